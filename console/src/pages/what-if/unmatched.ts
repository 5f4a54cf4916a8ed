/** An action name or pattern of a rule that matches no action of a domain. */
export interface Unmatched {
  /** The id of the rule. */
  readonly rule: string;
  readonly pattern: string;
}

/** The patterns of a rule table, of any form, that match none of the actions. */
export function unmatched(table: unknown, actions: readonly string[]): readonly Unmatched[] {
  return listOf(table, 'rules').flatMap((rule) =>
    listOf(rule, 'actions')
      .filter((pattern) => typeof pattern === 'string')
      .filter(
        (pattern) => !isBuiltIn(pattern) && !actions.some((action) => matches(pattern, action)),
      )
      .map((pattern) => ({ rule: String((rule as { readonly id?: unknown }).id), pattern })),
  );
}

function listOf(value: unknown, member: string): readonly unknown[] {
  const list = (value as Readonly<Record<string, unknown>> | null | undefined)?.[member];
  return Array.isArray(list) ? list : [];
}

/** Policies also decide about the runtime's own actions. No domain lists these. */
function isBuiltIn(pattern: string): boolean {
  return /^assize(?:\.|$)/.test(pattern);
}

/**
 * Whether a pattern matches a name, in the grammar of writs: `*` is one whole segment between
 * colons or slashes, and a final `**` is one or more.
 */
export function matches(pattern: string, name: string): boolean {
  const [wanted, found] = [segmentsOf(pattern), segmentsOf(name)];
  const last = wanted.at(-1);
  const rest = last === ':**' || last === '/**' ? last : undefined;
  const fixed = rest === undefined ? wanted : wanted.slice(0, -1);
  if (rest === undefined ? found.length !== fixed.length : found.length <= fixed.length)
    return false;
  if (rest === '/**' && !found.slice(fixed.length).every((segment) => segment.startsWith('/')))
    return false;
  return fixed.every((segment, n) => segment === found[n] || segment === `${found[n]?.[0]}*`);
}

/** Each segment begins with its kind: `:fs`, `/repo`. */
function segmentsOf(text: string): string[] {
  const normal = text.normalize('NFC');
  return (/^[:/]/.test(normal) ? normal : `:${normal}`).split(/(?=[:/])/);
}
