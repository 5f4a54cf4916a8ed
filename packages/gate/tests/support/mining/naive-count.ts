/** Support and counter-examples by a walk over all calls for each call, with its own reading. */
import type { MinedRule } from '../../../src/mining/index.ts';
import type { MiningCall, MiningRun } from '../../../src/mining/run.ts';

export interface NaiveCount {
  readonly support: {
    readonly runs: number;
    readonly calls: number;
    readonly agents: readonly string[];
  };
  /** `run call`. */
  readonly broken: string[];
}

export function naiveCount(rule: MinedRule, runs: readonly MiningRun[]): NaiveCount {
  const all = runs.flatMap((run) => run.calls.map((call, index) => ({ run: run.id, call, index })));
  const committed = all.filter(({ call }) => call.ruling === 'committed');
  const about: typeof all = [];
  const broken: typeof all = [];
  for (const one of committed.filter(({ call }) => call.tool === rule.tool)) {
    const inRun = committed
      .filter(({ run, index }) => run === one.run && index < one.index)
      .map(({ call }) => call);
    const before = committed.slice(0, committed.indexOf(one));
    const holds = obeys(
      rule,
      one.call,
      inRun,
      before.filter((each) => isSameWindow(rule, one, each)).map(({ call }) => call),
    );
    if (holds === undefined) continue;
    about.push(one);
    if (!holds) broken.push(one);
  }
  return {
    support: {
      runs: new Set(about.map(({ run }) => run)).size,
      calls: about.length,
      agents: [...new Set(about.flatMap(({ call }) => call.principal ?? []))].sort(),
    },
    broken: broken.map(({ run, index }) => `${run} ${index}`),
  };
}

type Args = { readonly [member: string]: unknown };

/** All paths of the generated runs are of one member. */
function member(call: MiningCall, path: string): unknown {
  return (call.args as Args)[path.slice(1)];
}

function obeys(
  rule: MinedRule,
  call: MiningCall,
  inRun: MiningCall[],
  inWindow: MiningCall[],
): boolean | undefined {
  if (rule.kind === 'allow') return undefined;
  if (rule.kind === 'bound' || rule.kind === 'values' || rule.kind === 'prefix') {
    const value = member(call, rule.path);
    if (value === undefined) return undefined;
    if (rule.kind === 'values') return rule.values.includes(value as string);
    if (rule.kind === 'prefix') return String(value).startsWith(rule.prefix);
    return (rule.of === 'length' ? (value as unknown[]).length : (value as number)) <= rule.max;
  }
  if (rule.kind === 'ordering') {
    const done = inRun.filter(
      ({ tool, outcome }) => tool === rule.needs && outcome !== 'failed' && outcome !== 'unknown',
    );
    if (rule.on === undefined) return done.length > 0;
    const { path, needsPath } = rule.on;
    if (member(call, path) === undefined) return undefined;
    return done.some((each) => member(each, needsPath) === member(call, path));
  }
  if (rule.kind === 'approval') {
    if (rule.from !== undefined && !((member(call, rule.from.path) as number) >= rule.from.min))
      return undefined;
    return call.approvedBy !== undefined;
  }
  if (rule.kind === 'never') return !rule.names.some((name) => name === call[rule.by]);
  if (rule.kind === 'apart') {
    const others = inRun.filter(({ tool }) => tool === rule.other);
    return others.length === 0
      ? undefined
      : others.every(({ principal }) => principal !== call.principal);
  }
  return (
    inWindow.filter(({ tool, principal }) => tool === call.tool && principal === call.principal)
      .length < rule.max
  );
}

interface Placed {
  readonly run: string;
  readonly call: MiningCall;
}

function isSameWindow(rule: MinedRule, one: Placed, other: Placed): boolean {
  if (rule.kind !== 'rate') return false;
  if (rule.per === 'run') return one.run === other.run;
  const digits = { minute: 16, hour: 13, day: 10 }[rule.per];
  return one.call.at?.slice(0, digits) === other.call.at?.slice(0, digits);
}
