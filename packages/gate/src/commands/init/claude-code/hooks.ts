/**
 * The hooks of Assize in the settings of Claude Code (version 2.1.295 and later, which refuse a
 * call when a hook with `onFailure: "block"` fails).
 */

import { CliError } from '@assize/command';
import { z } from 'zod';
import { commandLine, refusing, wordsOf } from '../agents/hook-command.ts';
import { foreignObject, textIn } from '../foreign-json.ts';
import type { ClaudeSandbox } from './sandbox.ts';

/** A settings file of Claude Code, as its JSON. */
export type Settings = { readonly [name: string]: unknown };

/** How the server answers, as the query of its address. */
export interface HookTerms {
  /** The program and its first arguments, which run `assize`. */
  readonly program: readonly string[];
  /** The address of the server. */
  readonly url: string;
  readonly trajectory: string;
  readonly token: string;
  /** Seconds that a question waits for a person. */
  readonly wait: number;
  readonly pending: 'deny' | 'defer';
  readonly confirm: 'never' | 'irreversible' | 'changes' | 'always';
  /** The sandbox of Claude Code. `file`: the settings that turn it on. `digest`: of its rules. */
  readonly sandbox?: {
    readonly file: string;
    readonly digest: string;
    readonly settings: ClaudeSandbox;
  };
}

/** Events that ask for a permission. A failure of their hook refuses it. */
export const QUESTIONS = [
  'PreToolUse',
  'PreSkillShellCommand',
  'PermissionRequest',
  'ConfigChange',
  'Elicitation',
];

/** Events that only inform. */
export const REPORTS = [
  ...['PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'PermissionDenied'],
  ...['UserPromptSubmit', 'SubagentStart', 'SubagentStop', 'SessionEnd'],
];

const NO_PROXY = 'NO_PROXY';
const LOOPBACK = '127.0.0.1,localhost';

/** Seconds beyond the wait in which the server answers. */
const ANSWER_SECONDS = 15;

const group = z.looseObject({ hooks: z.array(z.unknown()).optional() });
const form = z.looseObject({
  hooks: z.record(z.string(), z.array(group)).optional(),
  env: z.record(z.string(), z.unknown()).optional(),
});

/** The settings in the text of a file. @throws CliError `bad_input` */
export function settingsIn(path: string, text: string): Settings {
  const settings = foreignObject(path, text, { comments: false });
  const [issue] = form.safeParse(settings).error?.issues ?? [];
  if (issue === undefined) return settings;
  throw new CliError(
    'bad_input',
    `${path} has a form of ${issue.path.join('.')} that Claude Code does not know: ${issue.message}. Correct it, and repeat the command.`,
  );
}

/** The settings with the hooks of Assize, in place of earlier ones. Others stay. */
export function withHooks(settings: Settings, terms: HookTerms): Settings {
  const { hooks, env, ...others } = withoutHooks(settings);
  const given = membersOf(hooks);
  const variables = membersOf(env);
  const http = {
    type: 'http',
    url: addressOf(terms),
    headers: { Authorization: `Bearer ${terms.token}` },
    ...(terms.token === `$${TOKEN_VARIABLE}` && { allowedEnvVars: [TOKEN_VARIABLE] }),
  };
  const timeout = terms.wait + ANSWER_SECONDS;
  const { program, url, sandbox } = terms;
  const guard = { type: 'command', command: guardCommand(program, url, sandbox?.file), timeout };
  const asking = [{ ...http, timeout, onFailure: 'block' }, guard];
  const informing = [{ ...http, timeout: ANSWER_SECONDS, onFailure: 'continue' }];
  const own = (event: string, hooks: readonly object[]) => [...listOf(given[event]), { hooks }];
  return {
    ...others,
    ...(sandbox !== undefined && { sandbox: sandbox.settings }),
    // A proxy would else get the requests to this machine, with their token.
    env: { ...variables, [NO_PROXY]: withLoopback(variables[NO_PROXY]) },
    hooks: {
      ...given,
      ...Object.fromEntries(QUESTIONS.map((event) => [event, own(event, asking)])),
      ...Object.fromEntries(REPORTS.map((event) => [event, own(event, informing)])),
    },
  };
}

/** The variable in which each person of an organisation has a token of the hooks. */
export const TOKEN_VARIABLE = 'ASSIZE_TOKEN';

/** The settings with which an organisation puts its server in front of all its people. */
export function managedSettings(terms: Omit<HookTerms, 'program' | 'token'>): Settings {
  const all = { ...terms, program: ['assize'], token: `$${TOKEN_VARIABLE}` };
  const { env: _, ...settings } = withHooks({ allowManagedHooksOnly: true }, all);
  return settings;
}

/** The settings without the hooks of Assize. */
export function withoutHooks(settings: Settings): Settings {
  if (ownHooks(settings).length === 0) return settings;
  const { hooks, ...rest } = withoutEnv(settings);
  const { sandbox: _, ...unboxed } = rest;
  const others = sandboxIn(settings) === undefined ? rest : unboxed;
  if (typeof hooks !== 'object' || hooks === null) return settings;
  const kept = Object.entries(hooks).flatMap(([event, groups]) => {
    const left = listOf(groups).flatMap(withoutOwn);
    const isOwnOnly = left.length === 0 && listOf(groups).length > 0;
    return isOwnOnly ? [] : [[event, left] as const];
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
  const found = ownHooks(settings).map(({ headers }) =>
    textIn(membersOf(headers)['Authorization']),
  );
  return [
    ...new Set(
      found.map((header) => header.replace(/^Bearer /, '')).filter((token) => token !== ''),
    ),
  ];
}

/** The address of the server in the hooks of Assize. Undefined without a hook. */
export function addressIn(settings: Settings): string | undefined {
  const hook = ownHooks(settings).find(isAsking);
  return hook === undefined ? undefined : new URL(String(hook['url'])).origin;
}

function ownHooks({ hooks }: Settings): readonly Settings[] {
  return Object.values(membersOf(hooks))
    .flatMap(listOf)
    .flatMap((group) => listOf(membersOf(group)['hooks']))
    .filter(isOwn);
}

/** The events of Assize that the settings lack, or whose failure would not refuse a call. */
export function missingEvents({ hooks }: Settings): readonly string[] {
  return [...QUESTIONS, ...REPORTS].filter((event) => {
    const own = listOf(membersOf(hooks)[event]).flatMap((group) => {
      const { matcher, hooks: inner } = membersOf(group);
      return matcher === undefined || matcher === '*' || matcher === ''
        ? listOf(inner).filter(isOwn)
        : [];
    });
    const asking = own.find(isAsking);
    if (!QUESTIONS.includes(event)) return asking === undefined;
    if (asking?.['onFailure'] !== 'block') return true;
    const { origin } = new URL(String(asking['url']));
    return !own.some(
      (hook) => hook['command'] === guardCommand(programOf(hook), origin, sandboxFileOf(hook)),
    );
  });
}

/** The sandbox of the hooks of Assize: its settings file, and the digest of its rules. */
export function sandboxIn(
  settings: Settings,
): { readonly file: string; readonly digest: string } | undefined {
  const own = ownHooks(settings);
  const file = own.map(sandboxFileOf).find((each) => each !== undefined);
  if (file === undefined) return undefined;
  const asking = own.find(isAsking);
  const query = asking === undefined ? undefined : new URL(textIn(asking['url'])).searchParams;
  return { file, digest: query?.get('sandbox') ?? '' };
}

function sandboxFileOf({ command }: Settings): string | undefined {
  const words = wordsOf(textIn(command));
  const at = words.indexOf('--sandbox');
  return at === -1 ? undefined : words[at + 1];
}

/** The program of the hooks of Assize, and its first arguments. */
export function programIn(settings: Settings): readonly string[] {
  return (
    ownHooks(settings)
      .map(programOf)
      .find((program) => program.length > 0) ?? []
  );
}

function programOf({ command }: Settings): readonly string[] {
  const words = wordsOf(textIn(command));
  return words.slice(0, words.indexOf('hook'));
}

/** The command that refuses a call unless Assize answers at the address. */
function guardCommand(program: readonly string[], url: string, sandbox?: string): string {
  const words = ['hook', 'claude-code', '--url', url];
  const more = sandbox === undefined ? [] : ['--sandbox', sandbox];
  return refusing(commandLine(program, [...words, ...more]), 'claude-code');
}

function addressOf({ url, trajectory, wait, pending, confirm, sandbox }: HookTerms): string {
  const path = `/v1/trajectories/${encodeURIComponent(trajectory)}/hooks/claude-code`;
  const query = new URLSearchParams({ wait: String(wait), pending, confirm });
  if (sandbox !== undefined) query.set('sandbox', sandbox.digest);
  return `${url}${path}?${query}`;
}

function withoutOwn(group: unknown): unknown[] {
  const all = listOf(membersOf(group)['hooks']);
  const left = all.filter((hook) => !isOwn(hook));
  if (left.length === all.length) return [group];
  return left.length === 0 ? [] : [{ ...membersOf(group), hooks: left }];
}

function isOwn(hook: unknown): hook is Settings {
  const { type, command } = membersOf(hook);
  return isAsking(hook) || (type === 'command' && / hook claude-code --url /.test(textIn(command)));
}

/** Whether a hook asks a server of Assize. */
function isAsking(hook: unknown): hook is Settings {
  const { type, url } = membersOf(hook);
  const path = /\/v1\/trajectories\/[^/]+\/hooks\/claude-code(?:\?|$)/;
  return type === 'http' && typeof url === 'string' && URL.canParse(url) && path.test(url);
}

/** The members of a value of a settings file, which can have any form. */
function membersOf(value: unknown): Settings {
  return typeof value === 'object' && value !== null ? (value as Settings) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
