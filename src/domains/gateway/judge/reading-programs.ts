/** Programs that only read, with every option that they have. */
export const READING_PROGRAMS: ReadonlySet<string> = new Set(['cat', 'ls', 'pwd']);
