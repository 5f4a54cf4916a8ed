import type { Domain } from '../../api/domain-query.ts';
import type { Proposable } from '../../parts/addresses.ts';
import { emptyOf, resolvedRoot, type Schema } from '../../parts/schema-form/schema.ts';

/** A proposal that is being written, to be judged and not to be made. */
export interface Trial {
  readonly principal: string;
  readonly action: string;
  readonly role: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly args: unknown;
  /** Whether it is judged before the entry and not after it. */
  readonly isBefore: boolean;
}

interface RoleOfDomain {
  readonly name: string;
  readonly params: readonly string[];
  readonly processes: readonly string[];
}

/** The roles that perform an action. */
export function rolesFor(domain: Domain, action: string): readonly RoleOfDomain[] {
  const process = domain.actions.find(({ name }) => name === action)?.['process'];
  const roles = domain.roles as unknown as readonly RoleOfDomain[];
  return roles.filter(
    ({ processes }) => typeof process === 'string' && processes.includes(process),
  );
}

/** The trial with another action: its first role, and empty arguments. */
export function withAction(trial: Trial, domain: Domain, action: string): Trial {
  const [role] = rolesFor(domain, action);
  const schema = domain.actions.find(({ name }) => name === action)?.['args'] as Schema | undefined;
  const args = schema === undefined ? {} : emptyOf(resolvedRoot(schema));
  return { ...trial, action, role: withParams(role, trial.role.params), args };
}

/** A role with its known parameters. */
export function withParams(
  role: Pick<RoleOfDomain, 'name' | 'params'> | undefined,
  known: Readonly<Record<string, string>>,
): Trial['role'] {
  const { name = '', params = [] } = role ?? {};
  return { name, params: Object.fromEntries(params.map((each) => [each, known[each] ?? ''])) };
}

/** The trial that an address has. Undefined without one, and for an action of another domain. */
export function trialIn(text: string | null, principal: string, domain: Domain): Trial | undefined {
  const read = proposableIn(text);
  if (read === undefined || !domain.actions.some(({ name }) => name === read.action))
    return undefined;
  const { action, role, args = {} } = read;
  const blank = { principal, action: '', role: { name: '', params: {} }, args, isBefore: false };
  const trial = withAction(blank, domain, action);
  const given = typeof role === 'string' ? { name: role, params: {} } : role;
  return { ...trial, role: given, args };
}

/** Undefined if the text of the address does not parse as a proposal. */
function proposableIn(text: string | null): Proposable | undefined {
  try {
    const read = JSON.parse(text ?? 'null');
    return typeof read?.action === 'string' && isRole(read.role) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isRole(role: unknown): boolean {
  if (typeof role === 'string') return true;
  const { name, params } = (role ?? {}) as Partial<Trial['role']>;
  return (
    typeof name === 'string' &&
    typeof params === 'object' &&
    params !== null &&
    Object.values(params).every((value) => typeof value === 'string')
  );
}
