// The name of an event without what distinguishes its instances. The same rules as present/view/call_stacks.cc.

export const plainName = (name: string): string => name.replace(/, \w+ = \d+/g, "").replace(/#\d+$/, "*");
