import { type ArgumentSchema, arg, checkArgument, isInstance } from '#base';
import { issueText, readInstant } from '#canon';
import {
  type Domain,
  type MemoryStatement,
  type PredicateSpec,
  STATEMENT_AUTHOR,
  STATEMENT_METADATA,
  STATEMENT_TEXTS,
} from '#kernel';
import {
  MemoryError,
  type MemoryReason,
  OPEN_END,
  OPEN_START,
  STRATEGIES,
  storedPeriod,
} from '#memory';

/**
 * A JavaScript date has three digits after the second. Only for callers: no detail of a ruling has
 * this text.
 */
export const INSTANT_MADE = 'Pass a `Date`, a text with an offset, or a day such as 2026-03-23.';

/** The declaration of the predicates. */
export type Declaring = Pick<Domain, 'name' | 'memory'>;

/** A caller's input (perhaps not type-checked) with the memory's own fields. */
type UncheckedStatement = Readonly<Record<string, unknown>> & Pick<MemoryStatement, 'verb'>;

/**
 * A caller's statement in the memory's form. Refuses what the pure layer would refuse, with the
 * same codes: invalid texts, confidences, periods, predicates and strategies, and unknown members.
 * As a proposal it would be a recorded rejection, and the ledger would keep the caller's mistyped
 * data permanently. Checks that depend on the rest of a batch, on the current facts or on the time
 * are left to the ruling. `argument` is the caller's name for it.
 *
 * @throws MemoryError `bad_text`, `bad_confidence`, `no_instant`, `empty_period`,
 * `reversed_period`, `unknown_predicate`, `unknown_strategy`, `strategy_not_allowed`; ArgumentError
 * `bad_argument`
 */
export function validateStatement<Verb extends MemoryStatement['verb']>(
  given: object,
  own: { readonly verb: Verb; readonly space: string },
  domain: Declaring,
  argument: string,
): Extract<MemoryStatement, { verb: Verb }> {
  checkArgument(MEMBERS[own.verb], withoutOwn(given, own), argument);
  const said = withInstants({ ...given, ...own } as UncheckedStatement);
  requireTexts(said, argument);
  requireConfidence(said, `${argument}.confidence`);
  requireMetadata(said, `${argument}.metadata`);
  requireAuthor(said, `${argument}.author`);
  requireStamp(
    said,
    requireDeclared(said, domain, `${argument}.predicate`),
    `${argument}.strategy`,
  );
  requirePeriod(said, argument);
  requireEnd(said, argument);
  return said as unknown as Extract<MemoryStatement, { verb: Verb }>;
}

/** The statement with its instants in the form of the ledger. Other values stay, to be refused. */
function withInstants(said: UncheckedStatement): UncheckedStatement {
  const { valid } = said;
  const period = typeof valid === 'object' && valid !== null ? { valid: readEnds(valid) } : {};
  return { ...readEnds(said), ...period } as UncheckedStatement;
}

function readEnds(given: object): object {
  const read = (name: string, value: unknown): unknown =>
    name === 'from' || name === 'to' ? (readInstant(value) ?? value) : value;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, read(name, value)]),
  );
}

/** An action's statement may be passed as it is, with the same verb and space as the memory. */
function withoutOwn(given: object, own: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => !(Object.hasOwn(own, name) && value === own[name]),
    ),
  );
}

/** `elsewhere`: advice for members that a caller may expect here. */
function membersOf(
  names: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
): ArgumentSchema {
  const there = names.join(', ');
  const known = { ...OWN, ...elsewhere };
  return (given) => {
    const stray = Object.keys(given as object).find((name) => !names.includes(name));
    if (stray === undefined) return undefined;
    const what = Object.hasOwn(known, stray) ? known[stray] : `the fields are ${there}`;
    return { at: `.${stray}`, wanted: `left out, since ${what}` };
  };
}

/** Fields that the memory sets in each statement. Another value means another memory. */
const OWN: Readonly<Record<string, string>> = {
  verb: 'the method is the verb',
  space: 'the memory sets its own space',
};
const SAID = ['subject', 'predicate', 'object'];
const CLAIMED = [...SAID, 'confidence', 'source', 'metadata', 'author'];
const SOURCE = { sourceEventId: 'its name here is source' };
const IN_VALID = 'a period is given as valid: { from, to }';
const PERIOD = membersOf(['from', 'to']);

/** The members of each verb; also declared in the kernel (`SAYING` in `kernel/beliefs.ts`). */
const MEMBERS: Readonly<Record<MemoryStatement['verb'], ArgumentSchema>> = {
  assert: membersOf([...CLAIMED, 'valid', 'ends', 'strategy'], {
    ...SOURCE,
    from: IN_VALID,
    to: IN_VALID,
  }),
  change: membersOf([...CLAIMED, 'from'], { ...SOURCE, valid: 'a change has a `from` and no end' }),
  correct: membersOf([...CLAIMED, 'valid', 'was'], { ...SOURCE, from: IN_VALID, to: IN_VALID }),
  withdraw: membersOf(['subject', 'predicate', 'source']),
  retract: membersOf([...SAID, 'valid'], { from: IN_VALID, to: IN_VALID }),
};

/** Each text with its schema, and whether it is required in a retraction and in other verbs. */
const TEXTS = [
  ['space', STATEMENT_TEXTS.name, true, true],
  ['subject', STATEMENT_TEXTS.name, true, true],
  ['predicate', STATEMENT_TEXTS.name, true, true],
  ['object', STATEMENT_TEXTS.object, false, true],
  ['source', STATEMENT_TEXTS.source, false, false],
  ['was', STATEMENT_TEXTS.object, false, false],
] as const;

function requireTexts(said: UncheckedStatement, argument: string): void {
  for (const [name, schema, inRetraction, inClaim] of TEXTS) {
    const isNeeded =
      said.verb === 'withdraw'
        ? inRetraction || name === 'source'
        : said.verb === 'retract'
          ? inRetraction
          : inClaim;
    if (said[name] === undefined && !isNeeded) continue;
    if (isPlain(said[name])) continue;
    const { error } = schema.safeParse(said[name]);
    if (error === undefined) continue;
    // The space belongs to the memory, not to a claim.
    const place = name === 'space' ? name : `${argument}.${name}`;
    throw statementError('bad_text', place, `is not text that can be stored: ${issueText(error)}`);
  }
}

/**
 * Whether a text fits every text schema. The schemas are not run: that is slower, and the kernel
 * repeats it.
 */
function isPlain(text: unknown): boolean {
  return typeof text === 'string' && text.length <= 512 && /^[ -~]+$/.test(text);
}

function requireConfidence({ confidence }: UncheckedStatement, argument: string): void {
  if (
    confidence === undefined ||
    (typeof confidence === 'number' && confidence >= 0 && confidence <= 1)
  )
    return;
  throw statementError(
    'bad_confidence',
    argument,
    'must be a number from 0 to 1; leave it out for 1',
  );
}

function requireMetadata({ metadata }: UncheckedStatement, argument: string): void {
  if (metadata === undefined) return;
  const { error } = STATEMENT_METADATA.safeParse(metadata);
  if (error !== undefined)
    throw statementError('bad_metadata', argument, `is not valid: ${issueText(error)}`);
}

function requireAuthor({ author }: UncheckedStatement, argument: string): void {
  if (author === undefined) return;
  const { error } = STATEMENT_AUTHOR.safeParse(author);
  if (error !== undefined)
    throw statementError('bad_text', argument, `is not valid: ${issueText(error)}`);
}

function requireDeclared(
  { predicate }: UncheckedStatement,
  { name, memory }: Declaring,
  argument: string,
): PredicateSpec {
  const declared = memory?.predicates ?? {};
  const spec = Object.hasOwn(declared, predicate as string)
    ? declared[predicate as string]
    : undefined;
  if (spec !== undefined) return spec;
  const known = Object.keys(declared).sort().join(', ');
  const there =
    memory === undefined ? 'it has no memory' : `it declares ${known === '' ? 'none' : known}`;
  throw statementError(
    'unknown_predicate',
    argument,
    `is ${JSON.stringify(predicate)}, which the memory of the domain ${name} does not declare; ${there}`,
  );
}

function requireStamp(
  { strategy }: UncheckedStatement,
  declared: PredicateSpec,
  argument: string,
): void {
  if (strategy === undefined || strategy === declared.strategy) return;
  if (!(STRATEGIES as readonly unknown[]).includes(strategy))
    throw statementError(
      'unknown_strategy',
      argument,
      `must be one of ${STRATEGIES.join(', ')}, or left out`,
    );
  throw statementError(
    'strategy_not_allowed',
    argument,
    `differs from the declared strategy of the predicate, ${declared.strategy}; leave it out`,
  );
}

/** Without a clock, a missing end counts as open. */
function requirePeriod(said: UncheckedStatement, argument: string): void {
  if (said.verb === 'withdraw') return;
  if (said.verb === 'change') {
    const { from } = said;
    if (from !== undefined) requireWhole({ from, to: OPEN_END }, `${argument}.from`);
    return;
  }
  const { valid } = said;
  const place = `${argument}.valid`;
  const isPartial = said.verb === 'assert';
  if (isPartial && valid === undefined) return;
  checkArgument(arg.object, valid, place);
  checkArgument(PERIOD, valid, place);
  const { from, to } = valid as { readonly from?: unknown; readonly to?: unknown };
  requireWhole(
    {
      from: isPartial && from === undefined ? OPEN_START : from,
      to: isPartial && to === undefined ? OPEN_END : to,
    },
    place,
  );
}

/** An end without an instant would end nothing. */
function requireEnd({ ends, valid }: UncheckedStatement, argument: string): void {
  if (ends === undefined) return;
  checkArgument(
    arg.of('true, or left out', (value) => value === true),
    ends,
    `${argument}.ends`,
  );
  if ((valid as { readonly to?: unknown } | undefined)?.to === undefined)
    throw statementError(
      'no_instant',
      `${argument}.valid.to`,
      'is missing; `ends` needs the instant of the end',
    );
}

function requireWhole(
  { from, to }: { readonly from: unknown; readonly to: unknown },
  argument: string,
): void {
  try {
    storedPeriod(from as string, to as string);
  } catch (error) {
    if (!isInstance(error, MemoryError)) throw error;
    const { reason, message, evidence } = error;
    const made = reason === 'no_instant' ? ` ${INSTANT_MADE}` : '';
    throw new MemoryError(
      reason as MemoryReason,
      `The argument ${argument} is not a period: ${message}${made}`,
      {
        evidence: { ...evidence, argument },
      },
    );
  }
}

function statementError(reason: MemoryReason, argument: string, why: string): MemoryError {
  return new MemoryError(reason, `The argument ${argument} ${why}.`, { evidence: { argument } });
}
