import { ArgumentError, arg, checkArgument } from 'assize/internal/base';
import { readInstant, type Time } from 'assize/internal/canon';
import type {
  ActionName,
  ArgsOf,
  Domain,
  IsUntyped,
  RoleArguments,
  RoleName,
} from 'assize/internal/kernel';
import type fc from 'fast-check';

/** The options of a check. For a typed domain, its names are typed. */
export interface CheckDomainOptions<D extends Domain<any, any, any> = any> {
  /** The same seed and domain give the same report. Default: 1 */
  readonly seed?: number;
  /** Number of proposals. The run time depends on it. Default: 500 */
  readonly runs?: number;
  /**
   * Starting states in addition to the domain's own. They must be states that the domain can reach.
   */
  readonly states?: readonly unknown[];
  /** Arguments by action, if random values of the schema rarely commit. */
  readonly args?: IsUntyped<D> extends true
    ? Readonly<Record<string, fc.Arbitrary<unknown>>>
    : { readonly [Name in ActionName<D>]?: fc.Arbitrary<ArgsOf<D, Name>> };
  /** Parameters by role. Default: a few short names, and values from the state. */
  readonly roles?: IsUntyped<D> extends true
    ? Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>
    : { readonly [Name in RoleName<D>]?: readonly NonNullable<RoleArguments<D, Name>[0]>[] };
  /** The approver, by kind of counselor. Default: a guessed name. */
  readonly counselors?: Readonly<Record<string, string>>;
  /** The time of the proposals. Default: 2026-06-01T12:00:00.000000Z */
  readonly at?: Time;
}

const FORMS = {
  seed: arg.optional(arg.number),
  runs: arg.optional(arg.whole),
  states: arg.optional(arg.list(arg.any)),
  args: arg.optional(arg.record(arg.of('an arbitrary of fast-check', isArbitrary))),
  roles: arg.optional(arg.record(arg.list(arg.object))),
  counselors: arg.optional(arg.record(arg.text)),
  at: arg.optional(arg.of('a time', (given) => readInstant(given) !== undefined)),
};
const OPTIONS = arg.members(FORMS);

function isArbitrary(given: unknown): boolean {
  return (
    typeof (given as { readonly generate?: unknown } | null | undefined)?.generate === 'function'
  );
}

/**
 * A misspelled option would be ignored, and the check would not be the intended one. @throws
 * ArgumentError `bad_argument`
 */
export function requireOptions(options: CheckDomainOptions): void {
  checkArgument(OPTIONS, options, 'options');
  requireNames('options', options, 'option of checkDomain', Object.keys(FORMS));
}

/** @throws ArgumentError `bad_argument` for a name that the domain does not have */
export function requireNamesOf(
  domain: Domain,
  { args = {}, roles = {}, counselors = {} }: CheckDomainOptions,
): void {
  const of = `of ${domain.name}`;
  requireNames('options.args', args, `action ${of}`, Object.keys(domain.actions));
  requireNames('options.roles', roles, `role ${of}`, Object.keys(domain.roles));
  requireNames(
    'options.counselors',
    counselors,
    `kind of counselor ${of}`,
    Object.keys(domain.counselors),
  );
  for (const [name, list] of Object.entries(roles))
    for (const [i, params] of list.entries())
      requireParams(`options.roles.${name}.${i}`, params, domain.roles[name]?.params ?? []);
}

function requireNames(
  argument: string,
  given: object,
  what: string,
  names: readonly string[],
): void {
  const wrong = Object.keys(given).find((name) => !names.includes(name));
  if (wrong === undefined) return;
  const known = names.length === 0 ? 'the domain has none' : `the names are ${names.join(', ')}`;
  throw misnamed(`${argument}.${wrong}`, `not a known ${what}; ${known}`);
}

function requireParams(argument: string, given: object, wanted: readonly string[]): void {
  const names = Object.keys(given);
  if (names.length === wanted.length && wanted.every((name) => names.includes(name))) return;
  const all = wanted.length === 0 ? 'no parameters' : `the parameters ${wanted.join(', ')}`;
  throw misnamed(argument, `not what its role requires: ${all}`);
}

function misnamed(argument: string, is: string): ArgumentError {
  return new ArgumentError('bad_argument', `The argument ${argument} is ${is}; nothing was done.`, {
    evidence: { argument },
  });
}
