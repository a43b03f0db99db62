// The types of the modules that built_modules.mjs makes.
declare module "sql-cookbook" {
  const recipes: readonly { question: string; sql: string }[];
  export default recipes;
}
declare module "library-frames" {
  const libraries: readonly { how: "starts" | "contains"; text: string }[];
  export default libraries;
}
