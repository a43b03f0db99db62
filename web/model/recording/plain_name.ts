// The name of an event without what distinguishes its instances. The same rules as present/view/plain_name.cc.

export const plainName = (name: string): string => name.replace(/, \w+ = \d+/g, "").replace(/#\d+$/, "*");
