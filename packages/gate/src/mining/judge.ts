import type { Json } from 'assize/internal/base';
import { toPointer } from 'assize/internal/canon';
import { flowText } from '#gateway';
import type {
  ApartRule,
  ApprovalRule,
  BoundRule,
  MinedRule,
  NeverRule,
  OrderingRule,
  RateRule,
} from './rule.ts';
import { isDone, isLetThrough, type MiningCall, type MiningRun } from './run.ts';
import { find, scalarAt } from './scalars.ts';

/** A call of a run. */
export interface CallPlace {
  readonly run: string;
  /** The index among the calls of the run. */
  readonly call: number;
}

/** The calls that a rule is about, and those of them that break it. Both in the order of runs. */
export interface Judged {
  readonly about: readonly CallPlace[];
  readonly broken: readonly CallPlace[];
}

/** Undefined: the rule is not about the call. */
type Verdict = 'holds' | 'broken' | undefined;

/**
 * Judges a rule on every committed call of the runs. A rejected or waiting call did not take place.
 * It neither supports nor contradicts the rule.
 */
export function judge(rule: MinedRule, runs: readonly MiningRun[]): Judged {
  const about: CallPlace[] = [];
  const broken: CallPlace[] = [];
  const judgeCall = judgeOf(rule);
  for (const run of runs) {
    for (const [index, call] of run.calls.entries()) {
      if (call.tool !== rule.tool || !isLetThrough(call)) continue;
      const verdict = judgeCall(call, index, run);
      if (verdict === undefined) continue;
      const place = { run: run.id, call: index };
      about.push(place);
      if (verdict === 'broken') broken.push(place);
    }
  }
  return { about, broken };
}

function judgeOf(rule: MinedRule): (call: MiningCall, index: number, run: MiningRun) => Verdict {
  switch (rule.kind) {
    case 'allow':
      return ({ answers = [] }) =>
        answers.map(flowText).includes(flowText(rule.rule)) ? 'holds' : undefined;
    case 'bound':
      return judgeValue(rule, (value) => isWithin(rule, value));
    case 'values':
      return judgeValue(rule, (value) => rule.values.some((each) => each === value));
    case 'prefix':
      return judgeValue(
        rule,
        (value) => typeof value === 'string' && value.startsWith(rule.prefix),
      );
    case 'ordering':
      return (call, index, run) => judgeOrdering(rule, call, run.calls.slice(0, index));
    case 'approval':
      return (call) => judgeApproval(rule, call);
    case 'never':
      return (call) => judgeNever(rule, call);
    case 'apart':
      return (call, index, run) => judgeApart(rule, call, run.calls.slice(0, index));
    case 'rate':
      return judgeRate(rule);
  }
}

function broken(isBroken: boolean): Verdict {
  return isBroken ? 'broken' : 'holds';
}

/** A rule is not about a call without the argument. An argument of another shape breaks it. */
function judgeValue(
  { path }: { readonly path: string },
  holds: (value: Json) => boolean,
): (call: MiningCall) => Verdict {
  return ({ args }) => {
    const found = find(args, path);
    if ('value' in found) return broken(!holds(found.value));
    return found.lacks === 'absent' ? undefined : 'broken';
  };
}

function isWithin({ of, max }: BoundRule, value: Json): boolean {
  if (of === 'length') return Array.isArray(value) && value.length <= max;
  return typeof value === 'number' && value <= max;
}

function judgeOrdering(
  { needs, on }: OrderingRule,
  { args }: MiningCall,
  earlier: readonly MiningCall[],
): Verdict {
  const done = earlier.filter((call) => call.tool === needs && isDone(call));
  if (on === undefined) return broken(done.length === 0);
  const value = scalarAt(args, on.path);
  if (value === undefined) return undefined;
  return broken(!done.some((call) => scalarAt(call.args, on.needsPath) === value));
}

function judgeApproval({ from }: ApprovalRule, { args, approvedBy = [] }: MiningCall): Verdict {
  if (from !== undefined) {
    const found = find(args, from.path);
    if ('lacks' in found && found.lacks === 'absent') return undefined;
    if ('value' in found && typeof found.value === 'number' && found.value < from.min)
      return undefined;
  }
  return broken(approvedBy.length === 0);
}

function judgeNever({ by, names }: NeverRule, call: MiningCall): Verdict {
  const name = call[by];
  return name === undefined ? undefined : broken(names.includes(name));
}

function judgeApart(
  { other }: ApartRule,
  { principal }: MiningCall,
  earlier: readonly MiningCall[],
): Verdict {
  if (principal === undefined) return undefined;
  const others = earlier.filter(
    (call) => call.tool === other && isLetThrough(call) && call.principal !== undefined,
  );
  if (others.length === 0) return undefined;
  return broken(others.some((call) => call.principal === principal));
}

/** The calls of a group after the first `max` break the rule. The parts of one call count once. */
function judgeRate({
  per,
  max,
}: RateRule): (call: MiningCall, index: number, run: MiningRun) => Verdict {
  const groups = new Map<string, { count: number; entry: string | undefined }>();
  return (call, _, run) => {
    const key = rateGroup(per, call, run.id);
    if (key === undefined) return undefined;
    const group = groups.get(key) ?? { count: 0, entry: undefined };
    groups.set(key, group);
    const entry = call.entry?.entry_id;
    if (entry === undefined || entry !== group.entry) group.count++;
    group.entry = entry;
    return broken(group.count > max);
  };
}

/** Lengths of the text of an instant that name its minute, hour and day in UTC. */
const WINDOW_LENGTH = { minute: 16, hour: 13, day: 10 } as const;

/**
 * The group in which a call is counted: its principal with its run, or with its trajectory and the
 * window of its time. Undefined for a window without a time.
 */
export function rateGroup(
  per: RateRule['per'],
  { principal = '', at, entry }: MiningCall,
  run: string,
): string | undefined {
  if (per === 'run') return toPointer([run, principal]);
  if (at === undefined) return undefined;
  return toPointer([entry?.trajectory_id ?? '', principal, at.slice(0, WINDOW_LENGTH[per])]);
}
