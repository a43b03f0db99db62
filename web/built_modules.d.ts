// The type of the module that recipes.mjs makes of the SQL cookbook.
declare module "sql-cookbook" {
  const recipes: readonly { question: string; sql: string }[];
  export default recipes;
}
