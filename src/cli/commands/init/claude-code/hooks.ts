/**
 * The hooks of Assize in the settings of Claude Code (version 2.1.295 and later, which refuse a
 * call when a hook with `onFailure: "block"` fails).
 */

/** A settings file of Claude Code, as its JSON. */
export type Settings = { readonly [name: string]: unknown };

/** How the server answers, as the query of its address. */
export interface HookTerms {
  /** The address of the server. */
  readonly url: string;
  readonly trajectory: string;
  readonly token: string;
  /** Seconds that a question waits for a person. */
  readonly wait: number;
  readonly pending: 'deny' | 'defer';
  readonly confirm: 'never' | 'irreversible' | 'changes' | 'always';
}

/** Events that ask for a permission. A failure of their hook refuses it. */
export const QUESTIONS = ['PreToolUse', 'PreSkillShellCommand', 'PermissionRequest', 'ConfigChange', 'Elicitation'];

/** Events that only inform. */
export const REPORTS = [
  ...['PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'PermissionDenied'],
  ...['UserPromptSubmit', 'SubagentStart', 'SubagentStop', 'SessionEnd'],
];

const NO_PROXY = 'NO_PROXY';
const LOOPBACK = '127.0.0.1,localhost';

/** Seconds beyond the wait in which the server answers. */
const ANSWER_SECONDS = 15;

/** The settings with the hooks of Assize, in place of earlier ones. Others stay. */
export function withHooks(settings: Settings, terms: HookTerms): Settings {
  const { hooks: given = {}, env = {}, ...others } = withoutHooks(settings);
  const own = (event: string, more: object) => [
    ...listOf((given as Settings)[event]),
    { hooks: [{ type: 'http', url: addressOf(terms), headers: { Authorization: `Bearer ${terms.token}` }, ...more }] },
  ];
  const asking = { timeout: terms.wait + ANSWER_SECONDS, onFailure: 'block' };
  const informing = { timeout: ANSWER_SECONDS, onFailure: 'continue' };
  return {
    ...others,
    // A proxy would else get the requests to this machine, with their token.
    env: { ...(env as object), [NO_PROXY]: withLoopback((env as Settings)[NO_PROXY]) },
    hooks: {
      ...(given as object),
      ...Object.fromEntries(QUESTIONS.map((event) => [event, own(event, asking)])),
      ...Object.fromEntries(REPORTS.map((event) => [event, own(event, informing)])),
    },
  };
}

/** The settings without the hooks of Assize. */
export function withoutHooks(settings: Settings): Settings {
  if (ownHooks(settings).length === 0) return settings;
  const { hooks, ...others } = withoutEnv(settings);
  if (typeof hooks !== 'object' || hooks === null) return settings;
  const kept = Object.entries(hooks).flatMap(([event, groups]) => {
    const left = listOf(groups).flatMap(withoutOwn);
    return left.length === 0 ? [] : [[event, left] as const];
  });
  return kept.length === 0 ? others : { ...others, hooks: Object.fromEntries(kept) };
}

function withLoopback(hosts: unknown): string {
  return typeof hosts === 'string' && hosts !== '' ? `${hosts},${LOOPBACK}` : LOOPBACK;
}

function withoutEnv(settings: Settings): Settings {
  const { env, ...others } = settings;
  if (typeof env !== 'object' || env === null) return settings;
  const { [NO_PROXY]: hosts, ...rest } = env as Settings;
  if (typeof hosts !== 'string' || !hosts.endsWith(LOOPBACK)) return settings;
  const own = hosts.slice(0, -LOOPBACK.length).replace(/,$/, '');
  const left = own === '' ? rest : { ...rest, [NO_PROXY]: own };
  return Object.keys(left).length === 0 ? others : { ...others, env: left };
}

/** The tokens in the hooks of Assize. */
export function tokensIn(settings: Settings): readonly string[] {
  const found = ownHooks(settings).map((hook) =>
    String((hook['headers'] as Settings | undefined)?.['Authorization'] ?? ''),
  );
  return [...new Set(found.map((header) => header.replace(/^Bearer /, '')).filter((token) => token !== ''))];
}

/** The address of the server in the hooks of Assize. */
export function addressIn(settings: Settings): string {
  const [hook] = ownHooks(settings);
  return new URL(String(hook?.['url'])).origin;
}

function ownHooks({ hooks = {} }: Settings): readonly Settings[] {
  return Object.values(hooks as object)
    .flatMap(listOf)
    .flatMap((group) => listOf((group as Settings)['hooks']))
    .filter(isOwn);
}

/** The events of Assize that the settings lack, or whose failure would not refuse a call. */
export function missingEvents({ hooks = {} }: Settings): readonly string[] {
  return [...QUESTIONS, ...REPORTS].filter((event) => {
    const all = listOf((hooks as Settings)[event]).flatMap((group) => {
      const { matcher, hooks: inner } = group as Settings;
      return matcher === undefined || matcher === '*' || matcher === '' ? listOf(inner) : [];
    });
    return !all.some((hook) => isOwn(hook) && (!QUESTIONS.includes(event) || hook['onFailure'] === 'block'));
  });
}

function addressOf({ url, trajectory, wait, pending, confirm }: HookTerms): string {
  const path = `/v1/trajectories/${encodeURIComponent(trajectory)}/hooks/claude-code`;
  return `${url}${path}?${new URLSearchParams({ wait: String(wait), pending, confirm })}`;
}

function withoutOwn(group: unknown): unknown[] {
  if (typeof group !== 'object' || group === null || !('hooks' in group)) return [group];
  const all = listOf(group.hooks);
  const left = all.filter((hook) => !isOwn(hook));
  if (left.length === all.length) return [group];
  return left.length === 0 ? [] : [{ ...group, hooks: left }];
}

function isOwn(hook: unknown): hook is Settings {
  const { type, url } = (hook ?? {}) as Settings;
  return (
    type === 'http' && typeof url === 'string' && /\/v1\/trajectories\/[^/]+\/hooks\/claude-code(?:\?|$)/.test(url)
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
