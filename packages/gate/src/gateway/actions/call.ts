import { arg, checkArgument, type Json } from 'assize/internal/base';
import { contentHash, instantToMillis } from 'assize/internal/canon';
import { z } from 'zod';
import type { CompiledRules, JudgedCall, Verdict } from '../judge/compiled-rules.ts';
import { amountOf, groupOf, sumOf, usedKey } from '../judge/figures.ts';
import type { Found } from '../judge/path-name.ts';
import type { Resources } from '../judge/resources.ts';
import { runOf, takeTurn, turnOf } from '../judge/turns.ts';
import { callId, serverName, sessionId, toolName } from '../name-forms.ts';
import { AGENT, matchesSome, registeredName, toolKey } from '../names.ts';
import type { Rules } from '../rules/rules.ts';
import type { CallRow, GatewayState, JudgedRuling, StandingApproval } from '../schema.ts';

/** How many parts a call may have. */
export const PARTS_MAX = 64;

/** Absolute paths of the machine that the call is made on. */
const place = z.string().startsWith('/').max(4_096);
const places = z.array(place).min(1).max(1_000);

const part = z.strictObject({
  server: serverName,
  tool: toolName,
  args: z.record(z.string(), z.unknown()),
  reaches: places.optional(),
});

/** The arguments of the action `call`. */
export const callArgs: z.ZodObject<{
  id: z.ZodOptional<z.ZodString>;
  server: z.ZodString;
  tool: z.ZodString;
  args: z.ZodRecord<z.ZodString, z.ZodUnknown>;
  definition: z.ZodOptional<z.ZodString>;
  reaches: z.ZodOptional<typeof places>;
  project: z.ZodOptional<z.ZodString>;
  parts: z.ZodOptional<z.ZodArray<typeof part>>;
  once: z.ZodOptional<z.ZodBoolean>;
  later: z.ZodOptional<z.ZodBoolean>;
  waits: z.ZodOptional<z.ZodBoolean>;
  session: z.ZodOptional<z.ZodString>;
  undoes: z.ZodOptional<z.ZodString>;
}> = z.strictObject({
  /** The caller's id of the call. Default: a hash of the call and its time. */
  id: callId.optional(),
  server: serverName,
  tool: toolName,
  args: z.record(z.string(), z.unknown()),
  /** Hash of the definition that the caller was shown, as in `definitionHash`. */
  definition: z
    .string()
    .regex(
      /^[0-9a-f]{64}$/,
      'write the hash that definitionHash returns: 64 hex digits in lower case',
    )
    .optional(),
  /**
   * Places that the call, or a part of it, may reach beside the paths that it names: a file below a
   * folder that it reads, or the file that a symbolic link leads to.
   */
  reaches: places.optional(),
  /** The folder of the project that the call is made in: `${project}` in the paths of rules. */
  project: place.optional(),
  /** The parts of a call whose tool can do many things. The strictest one decides. */
  parts: z.array(part).min(1).max(PARTS_MAX).optional(),
  /**
   * Whether the call must start before it is made, and never starts twice. A call that commits
   * immediately also starts. The action `begin` starts any other one.
   */
  once: z.boolean().optional(),
  /** Whether a call that commits immediately does not start: its caller may make it later. */
  later: z.boolean().optional(),
  /** Whether the caller begins the call itself if another run has the turn. */
  waits: z.boolean().optional(),
  session: sessionId.optional(),
  /** The call that this one takes back. A call is taken back once. */
  undoes: callId.optional(),
});
export type CallArgs = z.infer<typeof callArgs>;

/** The members by which a call is recognised. */
export type CallDigested = Pick<CallArgs, 'args' | 'parts' | 'reaches' | 'project'>;

/**
 * The content of a call by which it is recognised: its arguments, with its parts, the places that
 * it reaches and its project if it has any.
 *
 * @throws ArgumentError `bad_argument`; CanonError for values that are not JSON
 */
export function callDigest(call: CallDigested): string {
  checkArgument(CONTENT, call, 'call');
  const { args, parts, reaches, project } = call;
  const more = Object.entries({ parts, reaches, project }).filter(([, each]) => each !== undefined);
  const content = more.length === 0 ? args : { args, ...Object.fromEntries(more) };
  return contentHash(content as { readonly [key: string]: Json });
}

const CONTENT = arg.members({
  args: arg.object,
  parts: arg.optional(arg.list(arg.object)),
  reaches: arg.optional(arg.list(arg.text)),
  project: arg.optional(arg.text),
});

/**
 * The id of a call in the state: the caller's, or a hash of the call and its time.
 *
 * @throws ArgumentError `bad_argument`; CanonError for values that are not JSON
 */
export function callIdOf(
  args: CallArgs,
  circumstances: { readonly agent: string; readonly at: string },
): string {
  checkArgument(ANY_CALL, args, 'args');
  checkArgument(CIRCUMSTANCES, circumstances, 'circumstances');
  const { agent, at } = circumstances;
  return (
    args.id ??
    contentHash({ agent, at, ...(args as unknown as { [key: string]: Json }) }).slice(0, 32)
  );
}

const ANY_CALL = arg.members({ id: arg.optional(arg.text) });
const CIRCUMSTANCES = arg.members({ agent: arg.text, at: arg.text });

/** The rules of a state, as a domain finds them. */
export interface RulesInForce {
  readonly compiled: CompiledRules;
  /** Whether these are other rules than the recorded ones. */
  readonly isTried: boolean;
  /** Rules that judge each call beside them. */
  readonly trial?: CompiledRules | undefined;
}

/** Records a call with its circumstances. The invariants judge the record. */
export function applyCall(
  state: GatewayState,
  args: CallArgs,
  { agent, at }: { readonly agent: string; readonly at: string },
  { compiled, isTried, trial }: RulesInForce,
): void {
  if (!AGENT.test(agent))
    throw new Error(`the agent ${JSON.stringify(agent)} has no name of letters, digits and _.:@+-`);
  const id = callIdOf(args, { agent, at });
  if (state.calls[id] !== undefined)
    throw new Error(`the call ${id} exists already; give each call its own id`);
  const run = args.session && runOf(state, args.session);
  if (run && args.undoes === undefined && state.sessions[run]?.failed === true)
    throw new Error(`the run ${run} has failed, and its calls only take back what it has done`);
  const tool = toolKey(args.server, args.tool);
  const pin = state.pins[tool];
  const isChanged = args.definition !== undefined && args.definition !== pin?.hash;
  const call = { agent, tool, args: args.args as Json, ...partsOf(args) };
  const asked: Circumstances = {
    ...{ call, at, isChanged: isChanged && pin !== undefined },
    name: registeredName(args.server, args.tool),
    digest: callDigest(args),
  };
  const acting = compiled.acting({ agent, at });
  const judged = judgedRow(state, acting, asked);
  const { row, verdict } = judged;
  // Other rules judge before the call changes the state.
  const ruled = (by: CompiledRules): JudgedRuling =>
    rulingOf(state, by, {
      ...(by === acting ? judged : judgedRow(state, by, asked)),
      isWaiting: row.asks.length > 0,
    });
  const would = acting === compiled ? undefined : ruled(compiled);
  if (would !== undefined && !isSameRuling(would, ruled(acting))) row.would = would;
  if (trial !== undefined) row.trial = ruled(trial);
  if (args.session !== undefined) row.session = args.session;
  if (args.undoes !== undefined) takeBack(state, args.undoes, { agent, id, tool, compiled });
  if (args.undoes !== undefined) row.undoes = args.undoes;
  const { limits } = acting.rules;
  const over = isTried ? overLimit(limits, state, row) : undefined;
  if (over !== undefined) row.over = over;
  if (row.denied === undefined && over === undefined) {
    const name = standingFor(state, row, { verdict, compiled });
    if (name !== undefined) {
      row.standing = name;
      state.spent[`${name}|${id}`] = { ...row.amounts, [USES]: 1 };
    }
  }
  if (args.once === true) {
    if (row.run === 'assize')
      throw new Error(`Assize makes the calls of ${tool} itself; ask without \`once\``);
    row.once = true;
    row.rules = state.rules.digest;
    const definition = args.definition ?? pin?.hash;
    if (definition !== undefined) row.definition = definition;
    const isLetThrough = row.asks.length === 0 || row.standing !== undefined;
    if (isLetThrough && args.later !== true && row.denied === undefined) {
      const noTurn = turnOf(state, row, at);
      if (noTurn === undefined) {
        takeTurn(state, row, at);
        row.begunAt = at;
      } else if (args.waits === true) row.waited = true;
      else row.denied = noTurn.of;
    }
  }
  state.calls[id] = row;
  if (row.run === 'caller') state.open[id] = agent;
  if (!isTried) {
    for (const limit of limits) {
      const amount = amountOf(limit, row);
      if (amount !== undefined) state.used[usedKey(limit, row, id)] = amount;
    }
  }
  if (row.run === 'assize') touch(state, row, at);
}

/**
 * The agent starts a call that a person approves, also one with other arguments that the rules
 * let through by themselves.
 */
export function approveCall({ calls }: GatewayState, { id, once }: CallArgs): void {
  const row = id === undefined ? undefined : calls[id];
  if (row !== undefined && once === true) delete row.begunAt;
}

/** Marks a call as taken back by another one of its agent. */
function takeBack(
  state: GatewayState,
  undone: string,
  {
    agent,
    id,
    tool,
    compiled,
  }: { readonly agent: string; readonly id: string; readonly tool: string } & Pick<
    RulesInForce,
    'compiled'
  >,
): void {
  const row = state.calls[undone];
  if (row === undefined) throw new Error(`there is no call ${undone} to undo`);
  if (row.agent !== agent) throw new Error(`the call ${undone} is that of another agent`);
  if (compiled.spec(row.tool)?.undo?.tool !== tool)
    throw new Error(`the rules do not undo ${row.tool} by ${tool}`);
  if (row.outcome !== 'done')
    throw new Error(`the call ${undone} is not done, so it cannot be undone`);
  if (row.undoneBy !== undefined)
    throw new Error(`the call ${undone} is undone by ${row.undoneBy} already`);
  row.undoneBy = id;
}

/** The parts, the reached places and the project of a call, as rules judge them. */
export function partsOf({
  parts,
  reaches,
  project,
}: Pick<CallArgs, 'parts' | 'reaches' | 'project'>): Pick<
  JudgedCall,
  'parts' | 'reaches' | 'project'
> {
  return {
    ...(reaches !== undefined && { reaches }),
    ...(project !== undefined && { project }),
    ...(parts !== undefined && {
      parts: parts.map(({ server, tool, args, reaches: places }) => ({
        tool: toolKey(server, tool),
        args: args as Json,
        ...(places !== undefined && { reaches: places }),
      })),
    }),
  };
}

interface Circumstances {
  readonly call: JudgedCall;
  readonly at: string;
  /** Whether the caller was shown another definition than the pinned one. */
  readonly isChanged: boolean;
  readonly name: string;
  readonly digest: string;
}

type NewRow = { -readonly [Member in keyof CallRow]: CallRow[Member] };

interface JudgedRow {
  readonly row: NewRow;
  readonly verdict: Verdict;
}

/** The row of a call as rules judge it, without limits and standing approvals. */
function judgedRow(
  state: GatewayState,
  compiled: CompiledRules,
  { call, at, isChanged, name, digest }: Circumstances,
): JudgedRow {
  const { agent, tool, parts } = call;
  const verdict = compiled.judge(call, (key) => state.pins[key], isChanged);
  const { resources, asks, allowed } = verdict;
  const first = compiled.mustBeRead(call);
  const row: NewRow = {
    agent,
    tool,
    ...(parts === undefined ? {} : { parts: [...new Set(parts.map((part) => part.tool))] }),
    class: verdict.class,
    at,
    digest,
    run: state.rules.runs.includes(name) ? 'assize' : 'caller',
    amounts: Object.fromEntries(
      Object.entries(resources.amounts).flatMap(([unit, found]) =>
        'value' in found ? [[unit, found.value]] : [],
      ),
    ),
    reads: listed(resources.reads),
    writes: listed(resources.writes),
    unread: 'rule' in first ? [] : first.flatMap((rule) => notRead(state, rule, { agent, at })),
    asks: [...asks],
    approvals: asks.length === 0 ? 0 : verdict.approvals,
    approvedBy: [],
    ...(verdict.minutes === undefined ? {} : { minutes: verdict.minutes }),
    ...(allowed === undefined ? {} : { allowed }),
  };
  const denied =
    verdict.denied ??
    unreadable(compiled.rules.limits, row, resources) ??
    ('rule' in first ? first : undefined);
  if (denied !== undefined) row.denied = denied;
  return { row, verdict };
}

/**
 * The ruling of rules on a call. It changes nothing. Of a call that may wait for a person, it
 * has no part that other calls could change meanwhile: the approval is for exactly this row. Then
 * limits, earlier readings and standing approvals do not count.
 */
function rulingOf(
  state: GatewayState,
  compiled: CompiledRules,
  { row, verdict, isWaiting }: JudgedRow & { readonly isWaiting: boolean },
): JudgedRuling {
  const [unread] = isWaiting ? [] : row.unread;
  const denied =
    row.denied ??
    (unread && { rule: unread.rule, why: notReadText(unread.path) }) ??
    (isWaiting ? undefined : overLimit(compiled.rules.limits, state, row));
  if (denied !== undefined) return { ruling: 'deny', ...denied };
  const [question] = row.asks;
  if (question === undefined) return { ruling: 'allow' };
  if (!isWaiting && standingFor(state, row, { verdict, compiled }) !== undefined)
    return { ruling: 'allow' };
  return { ruling: 'ask', ...question };
}

function isSameRuling(one: JudgedRuling, other: JudgedRuling): boolean {
  return one.ruling === other.ruling && one.rule === other.rule;
}

/** The reason of a refusal by `read_before_write`. */
export function notReadText(path: string): string {
  return `${path} was not read before`;
}

function listed(found: Found<readonly string[]>): string[] {
  return 'value' in found ? [...new Set(found.value)] : [];
}

/** A limit on an amount that cannot be read denies the call. */
function unreadable(
  limits: CompiledRules['rules']['limits'],
  { tool, parts = [] }: NewRow,
  { amounts }: Resources,
): CallRow['denied'] {
  for (const { id, tools, unit } of limits) {
    const found = unit === undefined || !Object.hasOwn(amounts, unit) ? undefined : amounts[unit];
    if (
      found !== undefined &&
      'problem' in found &&
      [tool, ...parts].some((name) => matchesSome(tools, name))
    )
      return { rule: id, why: `it cannot be evaluated: ${found.problem}` };
  }
  return undefined;
}

function notRead(
  state: GatewayState,
  rule: {
    readonly id: string;
    readonly hours?: number | undefined;
    readonly paths: readonly string[];
  },
  { agent, at }: { readonly agent: string; readonly at: string },
): CallRow['unread'] {
  const hours = rule.hours ?? READ_HOURS;
  return rule.paths.flatMap((path) => {
    const read = state.read[`${agent}|${path}`];
    const isFresh =
      read !== undefined && instantToMillis(at) - instantToMillis(read) <= hours * HOUR_MS;
    return isFresh ? [] : [{ rule: rule.id, path }];
  });
}

export const READ_HOURS = 24;
export const HOUR_MS = 3_600_000;

/** The limit that the call exceeds by the recorded calls, for rules that are only tried. */
function overLimit(
  limits: CompiledRules['rules']['limits'],
  state: GatewayState,
  row: NewRow,
): CallRow['denied'] {
  const calls = limits.length === 0 ? 0 : Object.keys(state.calls).length;
  for (const limit of limits) {
    const amount = amountOf(limit, row);
    // To read all calls takes long, and no limit on calls is over while there are fewer of them.
    if (amount === undefined || (limit.unit === undefined && calls < limit.max)) continue;
    const group = groupOf(limit, row);
    const sum = amount + sumOf(limit, group, Object.values(state.calls));
    if (sum > limit.max)
      return { rule: limit.id, why: limitText(sum, limit.max, `${limit.id}|${group}`) };
  }
  return undefined;
}

/** The reason of a refusal by a limit, for the group `limit|window|agent|tool`. */
export function limitText(sum: number, max: number, text: string): string {
  const [, window, agent, tool] = text.split('|');
  const by = agent === '*' ? '' : ` by ${agent}`;
  const of = tool === '*' ? '' : ` of ${tool}`;
  return `it would be ${sum}${by}${of} in ${window}, and at most ${max} are allowed`;
}

/**
 * The first standing approval that answers the questions of a call, in order of their ids. One that
 * is approved later leaves a waiting call as it is, so that a person can still approve that call.
 */
function standingFor(
  state: GatewayState,
  row: NewRow,
  { verdict, compiled }: { readonly verdict: Verdict } & Pick<RulesInForce, 'compiled'>,
): string | undefined {
  if (verdict.asks.length === 0 || !verdict.coverable) return undefined;
  for (const name of Object.keys(state.standing).sort()) {
    const standing = state.standing[name];
    if (
      standing?.approvedBy === undefined ||
      standing.agent !== row.agent ||
      row.at >= standing.expires
    )
      continue;
    if (standing.approvedAt !== undefined && row.at < standing.approvedAt) continue;
    if (!isCovered(standing.tools, row) || !isWithin(standing, compiled.rules.standing)) continue;
    if (fits(state, name, standing, verdict.resources)) return name;
  }
  return undefined;
}

/** Whether a standing approval is for the call itself, or for each of its parts. */
function isCovered(tools: readonly string[], { tool, parts }: NewRow): boolean {
  return matchesSome(tools, tool) || (parts?.every((name) => matchesSome(tools, name)) ?? false);
}

/**
 * Whether the rules in force would still let it be asked for. Stricter rules end what it covers.
 */
function isWithin(
  { uses, amounts }: Pick<StandingApproval, 'uses' | 'amounts'>,
  most: Rules['standing'],
): boolean {
  const isCapped = ([unit, amount]: [string, number]): boolean =>
    amount <= (Object.hasOwn(most.amounts, unit) ? (most.amounts[unit] as number) : 0);
  return uses <= most.uses && Object.entries(amounts).every(isCapped);
}

/** The member of `spent` that counts uses. No unit has this name. */
export const USES = '#uses';

function fits(
  state: GatewayState,
  name: string,
  { uses, amounts }: { readonly uses: number; readonly amounts: Readonly<Record<string, number>> },
  resources: Resources,
): boolean {
  const spent = new Map<string, number>();
  for (const [key, amountsOf] of Object.entries(state.spent)) {
    if (!key.startsWith(`${name}|`)) continue;
    for (const [unit, amount] of Object.entries(amountsOf))
      spent.set(unit, (spent.get(unit) ?? 0) + amount);
  }
  if ((spent.get(USES) ?? 0) >= uses) return false;
  return Object.entries(resources.amounts).every(([unit, found]) => {
    if ('problem' in found || !Object.hasOwn(amounts, unit)) return false;
    return (spent.get(unit) ?? 0) + found.value <= (amounts[unit] as number);
  });
}

/** Marks the paths of a call as known to its agent. */
export function touch(state: GatewayState, { agent, reads, writes }: CallRow, at: string): void {
  for (const path of [...reads, ...writes]) state.read[`${agent}|${path}`] = at;
}
