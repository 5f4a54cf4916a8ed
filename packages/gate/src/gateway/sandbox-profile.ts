import { rulesDigest } from './actions/configure.ts';
import { CompiledRules, compiledRules } from './judge/compiled-rules.ts';
import { type HostPattern, matchesHost, readHostPattern } from './judge/host-name.ts';
import { isUnder } from './judge/path-name.ts';
import { matchesSome } from './names.ts';
import { enforcing, type Rule, type Rules } from './rules/rules.ts';
import type { GatewayState } from './schema.ts';

/** The places and hosts that a program in a sandbox can reach, whatever it runs. */
export interface SandboxProfile {
  /** Places that are hidden with all below them. A place with a star hides what it matches. */
  readonly unreadable: readonly string[];
  /** Places that can be read although a place above them is hidden. */
  readonly readable: readonly string[];
  /** Places that can be written. Nothing else can. */
  readonly writable: readonly string[];
  /** Places in `writable` that stay as they are. */
  readonly unwritable: readonly string[];
  /** Hosts that can be reached, each with its port. */
  readonly hosts: readonly string[];
  /** Hosts below one of `hosts` that cannot be reached. */
  readonly refusedHosts: readonly string[];
  /** The rules that a sandbox follows in another way than the judge, or not at all. */
  readonly notes: readonly ProfileNote[];
}

export interface ProfileNote {
  /** The id of a rule, or `default`. */
  readonly rule: string;
  readonly says: string;
}

/** The place for which a profile is made. */
export interface ProfileFor {
  /** Absolute folders, without symbolic links. */
  readonly project: string;
  readonly home: string;
  /** Only the rules for this agent count. Default: the refusals for every agent, no permission. */
  readonly agent?: string | undefined;
  /** An MCP server of the rules: its tools that read and write count too. */
  readonly server?: string | undefined;
  /** Other places that stay as they are. */
  readonly kept?: readonly string[];
}

/** Places of the home folder that programs need: where people install them, and Git's names. */
const TOOL_FOLDERS = [
  ...['.nvm/versions', '.volta', '.fnm', '.asdf', '.pyenv', '.rbenv', '.sdkman/candidates'],
  ...['.cargo/bin', '.cargo/registry', '.rustup', '.bun/bin', '.deno/bin', 'go/bin', 'go/pkg'],
  ...['.local/bin', '.local/lib', '.local/share/pnpm', '.npm-global', '.gitconfig'],
];

/** Places that say what an agent or git may do. A sandbox keeps them as they are. */
const KEPT = [
  ...['.assize', '.claude', '.codex', '.mcp.json', 'assize.yaml', 'assize.config.json'],
  ...['.git/config', '.git/hooks', '.git/info'],
];

/**
 * The profile of rules. A place is readable only if no rule denies or asks about reading it, and
 * writable only if the rules let a command write it without a question. A sandbox cannot ask, so a
 * question counts as a refusal. Unless the default is `allow`, the home folder is hidden but for
 * the project and what a rule lets a command read.
 */
export function profileOf(rules: Rules, place: ProfileFor): SandboxProfile {
  const notes: ProfileNote[] = [];
  const terms = termsOf(rules, place, notes);
  const hidden = terms.places('refuse', terms.readers);
  const isHidden = (path: string): boolean => hidden.some((top) => isUnder(path, top));
  const covered = rules.default === 'allow' ? [] : [place.home];
  if (rules.default === 'deny')
    notes.push({
      rule: 'default',
      says: 'denies more: outside of the home folder all is readable',
    });
  const readable = [
    ...(place.project === place.home ? [] : [place.project]),
    ...terms.places('allow', terms.readers).filter((path) => !isGlob(path)),
    ...TOOL_FOLDERS.map((name) => `${place.home}/${name}`),
  ].filter((path) => !isHidden(path) && covered.some((top) => isUnder(path, top)));
  const kept = [
    ...terms.places('refuse', terms.writers),
    ...KEPT.map((name) => `${place.project}/${name}`),
    ...(place.kept ?? []),
  ];
  const writable = terms
    .places('allow', terms.writers)
    .filter((path) => !isGlob(path) && !isHidden(path))
    .filter((path) => !kept.some((top) => isUnder(path, top)));
  return {
    unreadable: unique([...covered, ...hidden]),
    readable: unique(readable),
    writable: unique(writable),
    unwritable: unique(kept.filter((path) => isGlob(path) || isBelowSome(path, writable))),
    ...hostsOf(terms, notes),
    notes,
  };
}

/** The digest of the rules that a sandbox follows: what they only observe counts there too. */
export function sandboxDigest(rules: Rules): string {
  return rulesDigest(enforcing(rules));
}

/** Whether a sandbox with this digest follows the rules in force. */
export function isSandboxInForce({ rules }: GatewayState, digest: string): boolean {
  return sandboxDigest(compiledRules(rules.text).rules) === digest;
}

export function isGlob(path: string): boolean {
  return /[*?]/.test(path);
}

/** Stands for the folder of the project in the path of a rule. */
const PROJECT = '${project}';

type Side = 'allow' | 'refuse';

interface Terms {
  readonly readers: readonly string[];
  readonly writers: readonly string[];
  /** The rules of a side about some of the tools. */
  readonly about: (side: Side, tools: readonly string[]) => readonly Rule[];
  /** The places of these rules. */
  readonly places: (side: Side, tools: readonly string[]) => readonly string[];
}

function termsOf(rules: Rules, place: ProfileFor, notes: ProfileNote[]): Terms {
  const { agent, server, project } = place;
  const compiled = new CompiledRules(rules);
  const own = rules.tools.filter(
    ({ name }) => server !== undefined && name.startsWith(`${server}/`),
  );
  const readers = ['files/read', 'shell/read', ...own.filter((spec) => spec.reads).map(nameOf)];
  const writers =
    server === undefined ? ['shell/write'] : own.filter((spec) => spec.writes).map(nameOf);
  const about: Terms['about'] = (side, tools) =>
    rules.rules.filter(({ effect, agents, class: classes, tools: patterns }) => {
      if ((effect === 'allow') !== (side === 'allow')) return false;
      if (
        agents !== undefined &&
        (agent === undefined ? side === 'allow' : !agents.includes(agent))
      )
        return false;
      return tools.some(
        (tool) =>
          matchesSome(patterns, tool) &&
          (classes?.includes(compiled.spec(tool)?.class ?? 'irreversible') ?? true),
      );
    });
  const note = (rule: string, says: string): void => {
    if (!notes.some((each) => each.rule === rule && each.says === says)) notes.push({ rule, says });
  };
  const placesIn = (rule: Rule, side: Side, isReading: boolean): readonly string[] => {
    // No call of a command on files has hosts or amounts.
    if (rule.host !== undefined || rule.amount !== undefined) return [];
    if (rule.where !== undefined) {
      if (side === 'allow') return [];
      note(rule.id, 'has conditions, and no sandbox tests conditions; it counts for every call');
    }
    if (rule.path === undefined) {
      if (side === 'allow') {
        note(rule.id, 'allows every place; the sandbox allows those of the project');
        return [project];
      }
      if (isReading && rule.effect === 'ask') {
        note(rule.id, 'asks about every reading; the sandbox cannot ask, and lets it through');
        return [];
      }
      return ['/'];
    }
    return rule.path.flatMap((path) => {
      const named = path.replaceAll(PROJECT, project);
      const top = named.startsWith('/') ? named : `${project}/${named}`;
      // A sandbox has processes of its own.
      if (top.startsWith('/proc/')) return [];
      if (!isGlob(top)) return [top];
      if (side === 'allow') {
        note(rule.id, `allows ${path}; a sandbox allows only whole folders and files`);
        return [];
      }
      note(rule.id, 'has paths with stars: what appears after the start is not covered');
      if (!named.startsWith('/')) note(rule.id, 'has paths that hold in the project alone');
      return [top];
    });
  };
  const places: Terms['places'] = (side, tools) => {
    const isReading = tools === readers;
    const named = about(side, tools).flatMap((rule) => placesIn(rule, side, isReading));
    if (side === 'refuse' || isReading || rules.default !== 'allow') return named;
    note('default', 'allows every place; the sandbox allows those of the project');
    return [...named, project];
  };
  return { readers, writers, about, places };
}

const FETCH = ['web/fetch'];

function hostsOf(
  { about }: Terms,
  notes: ProfileNote[],
): Pick<SandboxProfile, 'hosts' | 'refusedHosts'> {
  const refusals = about('refuse', FETCH).filter(({ path, amount }) => !path && !amount);
  if (refusals.some(({ host }) => host === undefined)) return { hosts: [], refusedHosts: [] };
  const refused = refusals.flatMap(({ host = [] }) => host).map(patternOf);
  const allowed = about('allow', FETCH).filter(
    ({ path, amount, where }) => !path && !amount && !where,
  );
  const hosts: string[] = [];
  for (const { id, host } of allowed) {
    if (host === undefined)
      notes.push({ rule: id, says: 'allows every host; a sandbox names hosts' });
    for (const text of host ?? []) {
      const pattern = patternOf(text);
      if (!isNarrow(pattern)) notes.push({ rule: id, says: `${text} is too wide for a sandbox` });
      else
        hosts.push(
          ...entriesOf(pattern)
            .filter((entry) => !isRefused(entry, refused))
            .map(textOf),
        );
    }
  }
  const below = refused.filter(isNarrow).map(textOf);
  return { hosts: unique(hosts), refusedHosts: hosts.length === 0 ? [] : unique(below) };
}

/** A pattern without a port allows the usual ones. */
function entriesOf(pattern: HostPattern): readonly HostPattern[] {
  return pattern.port === undefined ? [443, 80].map((port) => ({ ...pattern, port })) : [pattern];
}

function isRefused(
  { name, below, port = 0 }: HostPattern,
  refused: readonly HostPattern[],
): boolean {
  const host = { name: below ? `x.${name}` : name, port, usual: true };
  return refused.some((pattern) => matchesHost(pattern, host, true) && (pattern.below || !below));
}

/** The runtime refuses a name of one label, and all names of a top domain. */
function isNarrow({ name, below }: HostPattern): boolean {
  return name.includes('.') || name.startsWith('[') || (name === 'localhost' && !below);
}

function textOf({ name, below, port }: HostPattern): string {
  return `${below ? '*.' : ''}${name}${port === undefined ? '' : `:${port}`}`;
}

function patternOf(text: string): HostPattern {
  const read = readHostPattern(text);
  if ('problem' in read) throw new Error(`the host ${text} ${read.problem}`);
  return read.value;
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

function isBelowSome(path: string, tops: readonly string[]): boolean {
  return tops.some((top) => isUnder(path, top));
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
