/** Names that rules know as parts of calls of coding agents. */
const RESERVED: ReadonlySet<string> = new Set(['files', 'shell', 'web', 'claude-code', 'codex', 'unknown-mcp']);

/**
 * The name of a server in the rules: the client's name, without characters that rules do not know.
 * Trust is by this name, so another server that has it already gives this one a number.
 *
 * @param taken the servers by their names
 */
export function serverNameOf(wanted: string, identity: string, taken: ReadonlyMap<string, string>): string {
  const plain =
    wanted
      .replace(/[^A-Za-z0-9_@-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 90) || 'server';
  const first = RESERVED.has(plain.toLowerCase()) ? `mcp-${plain}` : plain;
  for (let number = 1; ; number++) {
    const name = number === 1 ? first : `${first}-${number}`;
    if ((taken.get(name) ?? identity) === identity) return name;
  }
}

/** Why a server does not have its client's name in rules: the end of a sentence. */
export function whyNot(name: string): string {
  if (RESERVED.has(name.toLowerCase())) return `rules use ${name} for a part of every agent's calls`;
  if (!/^[A-Za-z0-9][A-Za-z0-9_@-]{0,89}$/.test(name)) return `rules know no such characters as in ${name}`;
  return `another server has the name ${name} there`;
}
