import { type Form, form, requireForm } from '#base';
import { issueText } from '#canon';
import { type Domain, type PredicateSpec, SAYING_TEXTS, type Saying } from '#kernel';
import { MemoryError, type MemoryErrorCode, OPEN_END, OPEN_START, period, STRATEGIES } from '#memory';

/** Of a date of JavaScript, whose text has three digits after the second. For callers alone: no detail of a ruling has it. */
export const INSTANT_MADE = 'instantFromMillis of assize/canon makes one of a date’s milliseconds.';

/** What says which predicates there are. */
export type Declaring = Pick<Domain, 'name' | 'memory'>;

/** What comes from a caller, of whom a compiler may have seen nothing, and from the memory. */
type Given = Readonly<Record<string, unknown>> & Pick<Saying, 'verb'>;

/**
 * What is given, as the memory says it. Refuses what can't be said, by the codes of the pure floor, which would refuse it too: texts, confidences, periods, predicates and
 * strategies that are none, and members that there are not, whatever is believed. As a proposal it would be a rejection on record, and keep what a caller has mistyped for good.
 * What depends on the rest of a batch, on what is believed or on when it is said is for the ruling. `argument` is what the caller calls it.
 *
 * @throws MemoryError `bad_text`, `bad_confidence`, `no_instant`, `empty_period`, `reversed_period`, `unknown_predicate`,
 * `unknown_strategy`, `strategy_not_allowed`; ArgumentError `bad_argument`
 */
export function sayable<Verb extends Saying['verb']>(
  given: object,
  own: { readonly verb: Verb; readonly space: string },
  domain: Declaring,
  argument: string,
): Extract<Saying, { verb: Verb }> {
  requireForm(MEMBERS[own.verb], withoutOwn(given, own), argument);
  const said = { ...given, ...own } as Given;
  requireTexts(said, argument);
  requireConfidence(said, `${argument}.confidence`);
  requireStamp(said, requireDeclared(said, domain, `${argument}.predicate`), `${argument}.strategy`);
  requirePeriod(said, argument);
  return said as unknown as Extract<Saying, { verb: Verb }>;
}

/** What an action says may be given as it is, with the verb and the space that the memory has as well. */
function withoutOwn(given: object, own: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !(Object.hasOwn(own, name) && value === own[name])),
  );
}

/** `elsewhere`: what to do instead of members that one may look for here. */
function membersOf(names: readonly string[], elsewhere: Readonly<Record<string, string>> = {}): Form {
  const there = names.join(', ');
  const known = { ...OWN, ...elsewhere };
  return (given) => {
    const stray = Object.keys(given as object).find((name) => !names.includes(name));
    if (stray === undefined) return undefined;
    const what = Object.hasOwn(known, stray) ? known[stray] : `there is no such member: there are ${there}`;
    return { at: `.${stray}`, wanted: `left out, since ${what}` };
  };
}

/** What the memory gives to each saying: who gives another one means another memory. */
const OWN: Readonly<Record<string, string>> = { verb: 'the method is the verb', space: 'the memory has its own' };
const SAID = ['subject', 'predicate', 'object'];
const CLAIMED = [...SAID, 'confidence', 'source'];
const SOURCE = { sourceEventId: 'here it is source' };
const IN_VALID = 'a period stands in valid: { from, to }';
const PERIOD = membersOf(['from', 'to']);

/** What may be said by each verb; elsewhere a form of the kernel says so (`SAYING` in `kernel/beliefs.ts`). */
const MEMBERS: Readonly<Record<Saying['verb'], Form>> = {
  assert: membersOf([...CLAIMED, 'valid', 'strategy'], { ...SOURCE, from: IN_VALID, to: IN_VALID }),
  change: membersOf([...CLAIMED, 'from'], { ...SOURCE, valid: 'a change has a from, and no end' }),
  correct: membersOf([...CLAIMED, 'valid', 'was'], { ...SOURCE, from: IN_VALID, to: IN_VALID }),
  retract: membersOf([...SAID, 'valid'], { from: IN_VALID, to: IN_VALID }),
};

/** Each with its schema, whether it has to be there in a retraction, and whether in all else. */
const TEXTS = [
  ['space', SAYING_TEXTS.name, true, true],
  ['subject', SAYING_TEXTS.name, true, true],
  ['predicate', SAYING_TEXTS.name, true, true],
  ['object', SAYING_TEXTS.object, false, true],
  ['source', SAYING_TEXTS.source, false, false],
  ['was', SAYING_TEXTS.object, false, false],
] as const;

function requireTexts(said: Given, argument: string): void {
  for (const [name, schema, inRetraction, inClaim] of TEXTS) {
    const isNeeded = said.verb === 'retract' ? inRetraction : inClaim;
    if (said[name] === undefined && !isNeeded) continue;
    if (isPlain(said[name])) continue;
    const { error } = schema.safeParse(said[name]);
    if (error === undefined) continue;
    // The space is that of the memory, and in no claim.
    const place = name === 'space' ? name : `${argument}.${name}`;
    throw unsayable('bad_text', place, `is no text that can be kept: ${issueText(error)}`);
  }
}

/** What fits every schema of a text, without asking these: that takes longer, and the kernel does it anyway. */
function isPlain(text: unknown): boolean {
  return typeof text === 'string' && text.length <= 512 && /^[ -~]+$/.test(text);
}

function requireConfidence({ confidence }: Given, argument: string): void {
  if (confidence === undefined || (typeof confidence === 'number' && confidence >= 0 && confidence <= 1)) return;
  throw unsayable('bad_confidence', argument, 'must be a number from 0 to 1, or left out, which is 1');
}

function requireDeclared({ predicate }: Given, { name, memory }: Declaring, argument: string): PredicateSpec {
  const declared = memory?.predicates ?? {};
  const spec = Object.hasOwn(declared, predicate as string) ? declared[predicate as string] : undefined;
  if (spec !== undefined) return spec;
  const known = Object.keys(declared).sort().join(', ');
  const there = memory === undefined ? 'it has no memory' : `it declares ${known === '' ? 'none' : known}`;
  throw unsayable(
    'unknown_predicate',
    argument,
    `is ${JSON.stringify(predicate)}, which the domain ${name} does not declare in its memory; ${there}`,
  );
}

function requireStamp({ strategy }: Given, declared: PredicateSpec, argument: string): void {
  if (strategy === undefined || strategy === declared.strategy) return;
  if (!(STRATEGIES as readonly unknown[]).includes(strategy))
    throw unsayable('unknown_strategy', argument, `must be one of ${STRATEGIES.join(', ')}, or better left out`);
  throw unsayable(
    'strategy_not_allowed',
    argument,
    `is another one than the predicate declares, which is ${declared.strategy}; leave it out`,
  );
}

/** An end that is left out is open, as far as it can be told without a clock. */
function requirePeriod(said: Given, argument: string): void {
  if (said.verb === 'change') {
    const { from } = said;
    if (from !== undefined) requireWhole({ from, to: OPEN_END }, `${argument}.from`);
    return;
  }
  const { valid } = said;
  const place = `${argument}.valid`;
  const isPartial = said.verb === 'assert';
  if (isPartial && valid === undefined) return;
  requireForm(form.object, valid, place);
  requireForm(PERIOD, valid, place);
  const { from, to } = valid as { readonly from?: unknown; readonly to?: unknown };
  requireWhole(
    {
      from: isPartial && from === undefined ? OPEN_START : from,
      to: isPartial && to === undefined ? OPEN_END : to,
    },
    place,
  );
}

function requireWhole({ from, to }: { readonly from: unknown; readonly to: unknown }, argument: string): void {
  try {
    period(from as string, to as string);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    const { code, message, evidence } = error;
    const made = code === 'no_instant' ? ` ${INSTANT_MADE}` : '';
    throw new MemoryError(code, `The argument ${argument} is no period: ${message}${made} Nothing was said.`, {
      evidence: { ...evidence, argument },
    });
  }
}

function unsayable(code: MemoryErrorCode, argument: string, why: string): MemoryError {
  return new MemoryError(code, `The argument ${argument} ${why}. Nothing was said.`, { evidence: { argument } });
}
