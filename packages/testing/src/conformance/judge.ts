import { canonicalize } from 'assize/internal/canon';
import type { Told, WaitingCall, WantedCall } from './protocol/messages.ts';
import type { Effect } from './sink/effect.ts';

/** A call of a scenario, and how often its effect may be at the sink. */
export interface ExpectedCall extends WantedCall {
  readonly run: string;
  /** `at-most-once`: a crash or a refusal may leave it without an effect. */
  readonly made: 'once' | 'at-most-once' | 'never';
}

/** The kinds of findings, by the guarantee that does not hold. */
export type FindingKind =
  /** An effect is at the sink more than once. */
  | 'made-twice'
  /** An effect is at the sink without an approval of its call. */
  | 'not-approved'
  /** An effect has other arguments, or another tool, than the approved call. */
  | 'other-arguments'
  /** An approved call has no effect. */
  | 'not-made'
  /** An effect belongs to no call of the scenario. */
  | 'unknown-call'
  /** The model received a success, and the sink has no effect. */
  | 'untrue'
  /** A change of one run is overwritten by another one that had not read it. */
  | 'lost-change'
  /** A failed run has left a change, or took it back in another order or more than once. */
  | 'not-taken-back'
  /** A call that stays of a failed run is not named. */
  | 'not-named'
  /** A person was shown another call than the one at the sink. */
  | 'not-shown'
  /** The run did not wait for a person, or waited for other calls. */
  | 'did-not-ask'
  /** The run did not get to the point that the scenario is about. */
  | 'not-reached';

export interface Finding {
  readonly kind: FindingKind;
  readonly text: string;
}

/** Calls that a person was shown, or whose result the model received, in a run. */
export interface InRun<T> {
  readonly run: string;
  readonly of: T;
}

export interface Evidence {
  readonly effects: readonly Effect[];
  readonly expected: readonly ExpectedCall[];
  readonly told: readonly InRun<Told>[];
  readonly shown: readonly InRun<WaitingCall>[];
}

/** Judges the effects at the sink. The runtime's own word only counts against it. */
export function judge({ effects, expected, told, shown }: Evidence): Finding[] {
  const found = expected.flatMap((call) => judgeCall(call, effects));
  const known = new Set(expected.map(keyOf));
  const unknown = effects
    .filter(({ run, call }) => !known.has(keyOf({ run, id: call })))
    .map((effect) =>
      finding('unknown-call', `the sink has ${textOf(effect)}, for which no call asked`),
    );
  return [
    ...found,
    ...unknown,
    ...told.filter(isChange(expected)).flatMap((each) => untrue(each, effects)),
    ...notShown(shown, effects),
  ];
}

function judgeCall(call: ExpectedCall, effects: readonly Effect[]): Finding[] {
  const own = effects.filter((effect) => effect.run === call.run && effect.call === call.id);
  const found: Finding[] = [];
  if (call.made === 'never' && own.length > 0)
    found.push(
      finding('not-approved', `${own.map(textOf).join(', ')} was made without an approval`),
    );
  if (call.made !== 'never' && own.length > 1)
    found.push(finding('made-twice', `${call.tool} ${call.id} was made ${own.length} times`));
  if (call.made === 'once' && own.length === 0)
    found.push(finding('not-made', `${call.tool} ${call.id} was approved, and not made`));
  const other = own.filter(
    (effect) => effect.tool !== call.tool || !isSame(effect.args, call.args),
  );
  if (call.made !== 'never' && other.length > 0)
    found.push(
      finding(
        'other-arguments',
        `the approved call is ${call.tool} ${canonicalize(call.args)}, and the sink has ${other.map(textOf).join(', ')}`,
      ),
    );
  return found;
}

/** Whether a call whose result the model received has an effect. Only `get` has none. */
function isChange(expected: readonly ExpectedCall[]): (told: InRun<Told>) => boolean {
  return ({ run, of }) =>
    expected.find((call) => call.run === run && call.id === of.call)?.tool !== 'get';
}

/** A success without an effect. A model that hears of it goes on as if it had happened. */
function untrue(
  { run, of: { call, isError, text } }: InRun<Told>,
  effects: readonly Effect[],
): Finding[] {
  if (isError || effects.some((effect) => effect.run === run && effect.call === call)) return [];
  return [
    finding(
      'untrue',
      `the model received a success of ${call}: ${text.slice(0, 200)}; the sink has no effect of it`,
    ),
  ];
}

/** An effect of a call that a person was shown otherwise, at any time. */
function notShown(shown: readonly InRun<WaitingCall>[], effects: readonly Effect[]): Finding[] {
  return effects.flatMap((effect) => {
    const asked = shown.filter(({ run, of }) => run === effect.run && of.call === effect.call);
    const other = asked.find(
      ({ of }) => of.tool !== effect.tool || !isSame(of.args, effect.args),
    )?.of;
    if (other === undefined) return [];
    const was = `${other.tool} ${canonicalize(other.args)}`;
    return [
      finding('not-shown', `the person was shown ${was}, and the sink has ${textOf(effect)}`),
    ];
  });
}

function finding(kind: FindingKind, text: string): Finding {
  return { kind, text };
}

function keyOf({ run, id }: { readonly run: string; readonly id: string }): string {
  return canonicalize([run, id]);
}

function isSame(one: Effect['args'], other: Effect['args']): boolean {
  return canonicalize(one) === canonicalize(other);
}

function textOf({ call, tool, args }: Effect): string {
  return `${tool} ${call} ${canonicalize(args)}`;
}
