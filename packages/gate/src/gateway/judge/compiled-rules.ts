import { allHold, compileCondition, type Test } from 'assize/internal/authority';
import { type Json, LruCache } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import { matchesSome } from '../names.ts';
import { plainRules } from '../rules/faults.ts';
import {
  BUILT_IN,
  type ReadFirst,
  type Rule,
  type Rules,
  type ToolClass,
  type ToolSpec,
} from '../rules/rules.ts';
import { partText, unansweredText, unknownText } from './answering-rule.ts';
import { builtInTool } from './built-in-tools.ts';
import { windowOf } from './figures.ts';
import { type Host, type HostPattern, matchesHost, readHostPattern } from './host-name.ts';
import { type Found, isUnder, mayBeUnder, patternFor } from './path-name.ts';
import { joinedResources, type Resources, resourcesOf } from './resources.ts';

/** A call as rules judge it. */
export interface JudgedCall {
  readonly agent: string;
  /** `server/tool`. */
  readonly tool: string;
  readonly args: Json;
  readonly reaches?: readonly string[];
  /** The folder of the project that the call is made in. */
  readonly project?: string;
  /** The parts of the call. Rules that name the call itself then only make it stricter. */
  readonly parts?: readonly CallPart[];
}

/** A part of a call. */
export interface CallPart {
  readonly tool: string;
  readonly args: Json;
  /** Places of the rules that it may reach beside the paths that it names. */
  readonly reaches?: readonly string[];
}

/** The pinned definition of a tool, where one is known. */
export interface KnownPin {
  readonly class: ToolClass;
}

/** One rule that applies to a call, with its reason for people. */
export interface Applied {
  readonly rule: string;
  readonly why: string;
}

/** The answer of the rules that need no state to a call. */
export interface Verdict {
  readonly class: ToolClass;
  readonly resources: Resources;
  /** The first rule that denies. */
  readonly denied: Applied | undefined;
  readonly asks: readonly Applied[];
  /** How many people must approve. */
  readonly approvals: number;
  /** How long the questions wait, where a rule says so. */
  readonly minutes: number | undefined;
  /** Whether a standing approval can answer every question. */
  readonly coverable: boolean;
  /** The first rule that allows. */
  readonly allowed: string | undefined;
}

interface Row {
  readonly rule: Rule;
  readonly hosts: readonly HostPattern[];
  readonly where: readonly Test[];
}

/** Rules, ready to judge. Pure: the same rules and call always have the same verdict. */
export class CompiledRules {
  readonly rules: Rules;
  readonly #rows: readonly Row[];
  readonly #specs: ReadonlyMap<string, ToolSpec>;

  /** Whether a call that no rule is about is let through, also of an unknown tool. */
  readonly #isOpen: boolean;
  /** Whether some rule is only observed, by itself. */
  readonly #isObserving: boolean;
  /** The rules that act, by the day and by whether the file is only observed. */
  readonly #acting: LruCache<CompiledRules> = new LruCache(4);

  constructor(rules: Rules, isOpen: boolean = false) {
    this.rules = rules;
    this.#isOpen = isOpen;
    const { turns = [] } = rules;
    const all = [rules.rules, rules.limits, rules.read_before_write, turns].flat();
    this.#isObserving = all.some(({ mode }) => mode === 'observe');
    this.#specs = new Map(rules.tools.map((spec) => [spec.name, spec]));
    this.#rows = rules.rules.map((rule) => ({
      rule,
      hosts: (rule.host ?? []).map(hostPattern),
      where: (rule.where ?? []).map((each) =>
        compileCondition(each as Parameters<typeof compileCondition>[0], rule.effect === 'allow'),
      ),
    }));
  }

  /** `args`: of a part, whose class its own arguments can have. */
  spec(tool: string, args?: Json): ToolSpec | undefined {
    const own = this.#specs.get(tool);
    const builtIn = builtInTool(tool, args);
    return builtIn === undefined ? own : { ...builtIn, ...own };
  }

  /** Whether the file only observes at a time: the calls of one agent, or of every agent. */
  isOpen(at: string, agent?: string): boolean {
    const { mode, until = '', agents } = this.rules;
    const isMeant = agents === undefined || (agent !== undefined && agents.includes(agent));
    return this.#isOpen || (mode === 'observe' && at < until && isMeant);
  }

  /** The rules that act on the calls of an agent at a time: those that are not only observed. */
  acting({ agent, at }: { readonly agent: string; readonly at: string }): CompiledRules {
    const isOpen = this.isOpen(at, agent);
    if (!isOpen && !this.#isObserving) return this;
    return this.#acting.get(`${isOpen} ${windowOf('day', at)}`, () => {
      const acts = <T extends Pick<Rule, 'mode' | 'until'>>(list: readonly T[]): T[] =>
        list.filter((each) => (isOpen ? each.mode === 'enforce' : at >= (each.until ?? '')));
      const { rules, limits, read_before_write, turns } = this.rules;
      return new CompiledRules(
        {
          ...this.rules,
          rules: acts(rules),
          limits: acts(limits),
          read_before_write: acts(read_before_write),
          ...(turns !== undefined && { turns: acts(turns) }),
        },
        isOpen,
      );
    });
  }

  /**
   * The verdict on a call, with parts the strictest of theirs. A rule that cannot be evaluated
   * denies. `pinOf`: the pinned definition of a tool. `isChanged`: of another definition.
   */
  judge(call: JudgedCall, pinOf: PinOf = NO_PIN, isChanged: boolean = false): Verdict {
    const { agent, tool, project, parts = [] } = call;
    if (parts.length === 0) return this.#judgeOne(call, pinOf(tool), { isChanged });
    const place = { agent, ...(project !== undefined && { project }) };
    const verdicts = parts.map((part) =>
      aboutPart(part, this.#judgeOne({ ...place, ...part }, pinOf(part.tool), { isPart: true })),
    );
    const partsClass = mostHarmful(verdicts.map((verdict) => verdict.class));
    return strictest(this.#judgeOne(call, pinOf(tool), { isChanged, partsClass }), verdicts);
  }

  #judgeOne(
    call: JudgedCall,
    pin: KnownPin | undefined,
    {
      isChanged = false,
      isPart = false,
      partsClass,
    }: {
      readonly isChanged?: boolean;
      readonly isPart?: boolean;
      readonly partsClass?: ToolClass;
    } = {},
  ): Verdict {
    const spec = this.spec(call.tool, isPart ? call.args : undefined);
    const hasParts = partsClass !== undefined;
    const isKnown = spec !== undefined || pin !== undefined || hasParts || this.#isOpen;
    const toolClass = partsClass ?? spec?.class ?? pin?.class ?? 'irreversible';
    const resources = resourcesOf(spec, call.args);
    const found: { denied?: Applied; allowed?: string } = {};
    const asks: (Applied & Pick<Verdict, 'approvals' | 'coverable'> & Pick<Rule, 'minutes'>)[] = [];
    for (const row of this.#rows) {
      const { rule } = row;
      const applies = rowApplies(row, call, toolClass, resources);
      if (applies === false) continue;
      if (typeof applies === 'string')
        found.denied ??= { rule: rule.id, why: `it cannot be evaluated: ${applies}` };
      else if (rule.effect === 'deny')
        found.denied ??= {
          rule: rule.id,
          why: `${rule.because ?? 'the rule denies it'}${reachedText(rule, call, resources)}`,
        };
      else if (rule.effect === 'allow') found.allowed ??= rule.id;
      else {
        const approvals = rule.approvals ?? 1;
        const why = `${rule.because ?? 'the rule asks'}${reachedText(rule, call, resources)}`;
        const coverable = rule.standing ?? approvals === 1;
        asks.push({ rule: rule.id, why, approvals, coverable, minutes: rule.minutes });
      }
    }
    const once = { approvals: 1, coverable: false };
    if (!isKnown && this.rules.unknown === 'deny')
      found.denied ??= { rule: BUILT_IN.unknown, why: unknownText(call) };
    else if (!isKnown)
      asks.push({
        rule: BUILT_IN.unknown,
        why: unknownText(call),
        ...once,
      });
    if (isChanged && !this.#isOpen)
      asks.push({
        rule: BUILT_IN.changed,
        why: 'the definition of the tool is not the pinned one',
        ...once,
      });
    if (
      !hasParts &&
      !this.#isOpen &&
      asks.length === 0 &&
      found.allowed === undefined &&
      found.denied === undefined
    ) {
      const why = builtInTool(call.tool) === undefined ? 'no rule applies' : unansweredText(call);
      if (this.rules.default === 'deny') found.denied = { rule: BUILT_IN.default, why };
      if (this.rules.default === 'ask')
        asks.push({ rule: BUILT_IN.default, why, approvals: 1, coverable: true });
    }
    return {
      class: toolClass,
      resources,
      denied: found.denied,
      asks: asks.map(({ rule, why }) => ({ rule, why })),
      approvals: Math.max(1, ...asks.map(({ approvals }) => approvals)),
      minutes: shortestOf(asks),
      coverable: asks.every(({ coverable }) => coverable),
      allowed: found.allowed,
    };
  }

  /**
   * The paths at which some call of a tool by an agent is denied or asked about. A sandbox keeps
   * files from being written, so there only rules about reading count.
   */
  placesFor({ agent, tool, isSandboxed = false }: PlacesFor, project?: string): readonly string[] {
    const about = this.#rows.filter(
      ({ rule: { effect, tools, agents, class: classes } }) =>
        effect !== 'allow' &&
        matchesSome(tools, tool) &&
        (agents?.includes(agent) ?? true) &&
        (!isSandboxed || (classes?.includes('read') ?? true)),
    );
    const paths = about.flatMap(({ rule }) => rule.path ?? []);
    return [...new Set(paths.flatMap((path) => patternFor(path, project ?? ANY_FOLDER) ?? []))];
  }

  /** Whether every call of a tool by an agent is denied, whatever its arguments. */
  deniesAlways(agent: string, tool: string, pin: KnownPin | undefined): boolean {
    const spec = this.spec(tool);
    const isKnown = spec !== undefined || pin !== undefined || this.#isOpen;
    if (!isKnown && this.rules.unknown === 'deny') return true;
    const toolClass = spec?.class ?? pin?.class ?? 'irreversible';
    const about = this.#rows
      .map(({ rule }) => rule)
      .filter((rule) => isAbout(rule, { agent, tool }, toolClass));
    if (about.some((rule) => rule.effect === 'deny' && isForAllArguments(rule))) return true;
    if (this.#isOpen || this.rules.default !== 'deny') return false;
    return about.every((rule) => rule.effect === 'deny');
  }

  /**
   * The paths that a call writes and that must have been read before, by rule, or the reason why
   * the call cannot be judged.
   */
  mustBeRead({ tool, args, project, parts = [] }: JudgedCall): readonly PathsToRead[] | Applied {
    const found = [{ tool, args }, ...parts].map((part) => this.#mustBeRead(part, project));
    return (
      found.find((each): each is Applied => 'rule' in each) ??
      (found as (readonly PathsToRead[])[]).flat()
    );
  }

  #mustBeRead(
    { tool, args }: CallPart,
    project: string | undefined,
  ): readonly PathsToRead[] | Applied {
    const { writes } = resourcesOf(this.spec(tool), args);
    const rules = this.rules.read_before_write.filter(({ tools }) => matchesSome(tools, tool));
    const [first] = rules;
    if (first === undefined) return [];
    if ('problem' in writes)
      return { rule: first.id, why: `it cannot be evaluated: ${writes.problem}` };
    const needs = rules.map((rule) => ({ rule, tops: patternsOf(rule, project ?? ANY_FOLDER) }));
    return needs.map(({ rule, tops }) => ({
      ...rule,
      paths: writes.value.filter((path) => tops?.some((top) => mayBeUnder(path, top)) ?? true),
    }));
  }
}

/** The project of a call outside of any, in rules that refuse or ask. No such call is allowed. */
const ANY_FOLDER = '/**';

type PlacesFor = Pick<JudgedCall, 'agent' | 'tool'> & { readonly isSandboxed?: boolean };

/** A rule, with the paths that it is about. */
type PathsToRead = ReadFirst & { readonly paths: readonly string[] };

type PinOf = (tool: string) => KnownPin | undefined;

const NO_PIN: PinOf = () => undefined;

const BY_HARM: readonly ToolClass[] = ['read', 'reversible', 'irreversible'];

function mostHarmful(classes: readonly ToolClass[]): ToolClass {
  return BY_HARM[Math.max(...classes.map((each) => BY_HARM.indexOf(each)))] as ToolClass;
}

/** The first reasons of each rule: a call can have many parts. */
function few(asks: Iterable<Applied>): Applied[] {
  const counts = new Map<string, number>();
  return [...asks].flatMap((each) => {
    const count = (counts.get(each.rule) ?? 0) + 1;
    counts.set(each.rule, count);
    if (count > ASKS_SHOWN) return [];
    return count < ASKS_SHOWN ? [each] : [{ ...each, why: `${each.why}, and more` }];
  });
}

const ASKS_SHOWN = 4;

/** The verdict on a part, whose written rules also name the part that they are about. */
function aboutPart(part: CallPart, verdict: Verdict): Verdict {
  const named = (each: Applied): Applied =>
    BUILT_IN_IDS.has(each.rule) ? each : { ...each, why: `${each.why} (${partText(part)})` };
  const { asks, denied } = verdict;
  return { ...verdict, asks: asks.map(named), denied: denied && named(denied) };
}

const BUILT_IN_IDS: ReadonlySet<string> = new Set(Object.values(BUILT_IN));

function shortestOf(
  asks: readonly { readonly minutes?: number | undefined }[],
): number | undefined {
  return asks
    .map(({ minutes }) => minutes)
    .filter((minutes) => minutes !== undefined)
    .sort((a, b) => a - b)[0];
}

/** The verdict on a call by those on its parts and the rules that name the call itself. */
function strictest(whole: Verdict, parts: readonly Verdict[]): Verdict {
  const all = [whole, ...parts];
  const asks = new Map(
    all.flatMap((each) => each.asks).map((each) => [`${each.rule}|${each.why}`, each]),
  );
  const asking = all.filter((each) => each.asks.length > 0);
  return {
    class: whole.class,
    resources: joinedResources(all.map(({ resources }) => resources)),
    denied: all.find(({ denied }) => denied !== undefined)?.denied,
    asks: few(asks.values()),
    approvals: Math.max(1, ...asking.map(({ approvals }) => approvals)),
    minutes: shortestOf(asking),
    coverable: asking.every(({ coverable }) => coverable),
    allowed: parts.find(({ allowed }) => allowed !== undefined)?.allowed,
  };
}

function hostPattern(text: string): HostPattern {
  const read = readHostPattern(text);
  if ('problem' in read) throw new Error(`the host ${text} ${read.problem}`);
  return read.value;
}

/** Whether the rule applies, or the reason why it cannot be evaluated. */
function rowApplies(
  row: Row,
  call: JudgedCall,
  toolClass: ToolClass,
  resources: Resources,
): boolean | string {
  const { rule } = row;
  if (!isAbout(rule, call, toolClass)) return false;
  for (const applies of [
    pathApplies(rule, call, resources),
    hostApplies(row, resources),
    amountApplies(rule, resources),
  ])
    if (applies !== true) return applies;
  return allHold(row.where, call.args);
}

/** Whether a rule is about calls of a tool by an agent, before their arguments are known. */
function isAbout(
  { tools, class: classes, agents }: Rule,
  { agent, tool }: Pick<JudgedCall, 'agent' | 'tool'>,
  toolClass: ToolClass,
): boolean {
  if (!matchesSome(tools, tool)) return false;
  return (classes?.includes(toolClass) ?? true) && (agents?.includes(agent) ?? true);
}

function isForAllArguments({ path, host, amount, where }: Rule): boolean {
  return path === undefined && host === undefined && amount === undefined && where === undefined;
}

function pathApplies(rule: Rule, call: JudgedCall, resources: Resources): boolean | string {
  if (rule.path === undefined) return true;
  const named = namedPaths(resources);
  if ('problem' in named) return named.problem;
  const paths = [...named.value, ...(call.reaches ?? [])];
  const isAllow = rule.effect === 'allow';
  const tops = patternsOf(rule, isAllow ? call.project : (call.project ?? ANY_FOLDER));
  if (isAllow)
    return (
      named.value.length > 0 &&
      paths.every((path) => tops?.some((top) => isUnder(path, top)) ?? false)
    );
  return paths.some((path) => tops?.some((top) => mayBeUnder(path, top)) ?? false);
}

function namedPaths({ reads, writes }: Resources): Found<readonly string[]> {
  if ('problem' in reads) return reads;
  return 'problem' in writes ? writes : { value: [...reads.value, ...writes.value] };
}

/** The paths of a rule for a call. Undefined: the rule has none, or needs a project. */
function patternsOf(
  { path = [] }: Pick<Rule, 'path'>,
  project: string | undefined,
): readonly string[] | undefined {
  const found = path.map((each) => patternFor(each, project));
  return found.length > 0 && found.every((each) => each !== undefined) ? found : undefined;
}

/** Says which place a call reaches that no path of it names. */
function reachedText(rule: Rule, { reaches = [], project }: JudgedCall, named: Resources): string {
  const tops = patternsOf(rule, project ?? ANY_FOLDER) ?? [];
  const isMet = (path: string): boolean => tops.some((top) => mayBeUnder(path, top));
  const paths = namedPaths(named);
  if ('value' in paths && paths.value.some(isMet)) return '';
  const place = reaches.find(isMet);
  return place === undefined
    ? ''
    : ` (it reaches ${place}: leave that place out, or name only the files that it needs)`;
}

function hostApplies({ rule, hosts }: Row, resources: Resources): boolean | string {
  if (rule.host === undefined) return true;
  if ('problem' in resources.hosts) return resources.hosts.problem;
  const isOne = (host: Host): boolean =>
    hosts.some((pattern) => matchesHost(pattern, host, rule.effect !== 'allow'));
  const named = resources.hosts.value;
  return rule.effect === 'allow' ? named.length > 0 && named.every(isOne) : named.some(isOne);
}

/** A tool without amounts in the unit is not concerned. */
function amountApplies({ amount }: Rule, { amounts }: Resources): boolean | string {
  if (amount === undefined) return true;
  const found = Object.hasOwn(amounts, amount.unit) ? amounts[amount.unit] : undefined;
  if (found === undefined) return false;
  if ('problem' in found) return found.problem;
  return found.value >= (amount.min ?? 0) && found.value <= (amount.max ?? Number.MAX_SAFE_INTEGER);
}

const cache = new LruCache<CompiledRules>(64);

/** The rules of a recorded text. The text itself is the key, so equal texts have equal rules. */
export function compiledRules(text: string): CompiledRules {
  return cache.get(text, () => new CompiledRules(JSON.parse(text) as Rules));
}

interface RecordedRules {
  readonly rules: { readonly text: string };
}

/** The rules in force in a state. */
export function rulesInForce({ rules: { text } }: RecordedRules): Rules {
  return compiledRules(text).rules;
}

/** The paths of a state's rules at which a call of a tool is denied or asked about. */
export function placesFor(
  { rules: { text } }: RecordedRules,
  call: PlacesFor,
  project?: string,
): readonly string[] {
  return compiledRules(text).placesFor(call, project);
}

/** The declaration of a tool in the rules of a state. */
export function specOf({ rules: { text } }: RecordedRules, tool: string): ToolSpec | undefined {
  return compiledRules(text).spec(tool);
}

/** The recorded text of rules. */
export function rulesText(rules: Rules): string {
  return canonicalize(plainRules(rules));
}
