/** The names of programs that rules can name: the names of tools, without a slash and a colon. */
const PROGRAM = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$/;

/** Names that the vocabulary of parts uses for something else. */
const TAKEN: ReadonlySet<string> = new Set(['dynamic', 'file', 'read', 'unparsed', 'write']);

/** Builtins under names that rules cannot write. */
const SAME: Readonly<Record<string, string>> = { '[': 'test', ':': 'true', '.': 'source' };

/**
 * The name of a program, also of one in the usual folders. `file` for a program at another path,
 * and undefined for a name that rules cannot write.
 */
export function programTool(name: string): string | undefined {
  if (Object.hasOwn(SAME, name)) return SAME[name];
  const usual = /^\/(?:usr\/|usr\/local\/)?bin\/([^/]+)$/.exec(name)?.[1];
  if (usual === undefined && name.includes('/')) return 'file';
  const program = usual ?? name;
  if (!PROGRAM.test(program)) return undefined;
  return TAKEN.has(program) ? `program:${program}` : program;
}

/** The last name of the path of a program: what the program takes itself for. */
export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
