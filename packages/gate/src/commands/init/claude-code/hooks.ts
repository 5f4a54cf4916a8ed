/**
 * The hooks of Assize in the settings of Claude Code. They need version 2.1.295 or later, where a
 * failing hook with `onFailure: "block"` refuses the call.
 */

import { CliError } from '@assize/command';
import { z } from 'zod';
import { type HookTerms, hookLine, hookTermsIn } from '../agents/hook-command.ts';
import { foreignObject, textIn } from '../foreign-json.ts';
import type { ClaudeSandbox } from './sandbox.ts';

/** A settings file of Claude Code, as its JSON. */
export type Settings = { readonly [name: string]: unknown };

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

/** Seconds beyond the wait in which the hook answers. */
const ANSWER_SECONDS = 15;

const group = z.looseObject({ hooks: z.array(z.unknown()).optional() });
const form = z.looseObject({
  hooks: z.record(z.string(), z.array(group)).optional(),
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

/** The sandbox of Claude Code, and the variables of its commands. */
interface Sandboxing {
  readonly sandbox?: ClaudeSandbox;
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** The settings with the hooks of Assize, in place of earlier ones. Others stay. */
export function withHooks(
  settings: Settings,
  terms: HookTerms,
  { sandbox, variables }: Sandboxing = {},
): Settings {
  const { hooks, ...others } = withoutHooks(settings);
  const given = membersOf(hooks);
  const command = hookLine('claude-code', terms);
  const own = (event: string): readonly unknown[] => {
    const isQuestion = QUESTIONS.includes(event);
    const timeout = (isQuestion ? terms.wait : 0) + ANSWER_SECONDS;
    const hook = {
      type: 'command',
      command,
      timeout,
      onFailure: isQuestion ? 'block' : 'continue',
    };
    return [...listOf(given[event]), { hooks: [hook] }];
  };
  const events = [...QUESTIONS, ...REPORTS].map((event) => [event, own(event)] as const);
  return {
    ...others,
    ...(sandbox !== undefined && { sandbox }),
    ...(variables !== undefined && { env: { ...membersOf(others['env']), ...variables } }),
    hooks: { ...given, ...Object.fromEntries(events) },
  };
}

/** The settings with which an organisation puts its server in front of all its people. */
export function managedSettings(terms: Omit<HookTerms, 'program'>): Settings {
  return withHooks({ allowManagedHooksOnly: true }, { ...terms, program: ['assize'] });
}

/** The settings without the hooks of Assize. */
export function withoutHooks(settings: Settings): Settings {
  if (ownHooks(settings).length === 0) return settings;
  const { hooks, ...rest } = settings;
  const { sandbox: _, ...unboxed } = withoutList(rest);
  const others = termsIn(settings)?.sandbox === undefined ? rest : unboxed;
  const kept = Object.entries(membersOf(hooks)).flatMap(([event, groups]) => {
    const left = listOf(groups).flatMap(withoutOwn);
    const isOwnOnly = left.length === 0 && listOf(groups).length > 0;
    return isOwnOnly ? [] : [[event, left] as const];
  });
  return kept.length === 0 ? others : { ...others, hooks: Object.fromEntries(kept) };
}

/** The settings without the variables that name the list of mount points. */
function withoutList(settings: Settings): Settings {
  const { env, ...others } = settings;
  const list = membersOf(env)['GIT_CONFIG_VALUE_0'];
  if (!textIn(list).endsWith('/assize-mount-points')) return settings;
  const left = Object.entries(membersOf(env)).filter(([name]) => !/^GIT_CONFIG_/.test(name));
  return left.length === 0 ? others : { ...others, env: Object.fromEntries(left) };
}

/** How the hooks of Assize reach the server. Undefined without a hook. */
export function termsIn(settings: Settings): HookTerms | undefined {
  return ownHooks(settings)
    .map(({ command }) => hookTermsIn(textIn(command)))
    .find((terms) => terms !== undefined);
}

function ownHooks({ hooks }: Settings): readonly Settings[] {
  return Object.values(membersOf(hooks))
    .flatMap(listOf)
    .flatMap((group) => listOf(membersOf(group)['hooks']))
    .filter(isOwn);
}

/** The events of Assize that the settings lack, or whose failure would not refuse a call. */
export function missingEvents(settings: Settings): readonly string[] {
  const terms = termsIn(settings);
  const line = terms && hookLine('claude-code', terms);
  return [...QUESTIONS, ...REPORTS].filter((event) => {
    const groups = listOf(membersOf(settings['hooks'])[event]).map(membersOf);
    const all = groups.filter(({ matcher = '' }) => matcher === '*' || matcher === '');
    const own = all.flatMap(({ hooks }) => listOf(hooks).map(membersOf));
    const isSafe = ({ onFailure }: Settings) => onFailure === 'block' || !QUESTIONS.includes(event);
    return !own.some((hook) => hook['command'] === line && line !== undefined && isSafe(hook));
  });
}

function withoutOwn(group: unknown): unknown[] {
  const all = listOf(membersOf(group)['hooks']);
  const left = all.filter((hook) => !isOwn(hook));
  if (left.length === all.length) return [group];
  return left.length === 0 ? [] : [{ ...membersOf(group), hooks: left }];
}

function isOwn(hook: unknown): hook is Settings {
  const { command, url } = membersOf(hook);
  // Earlier hooks asked the server over HTTP themselves.
  const isHttp = /\/v1\/trajectories\/[^/]+\/hooks\/claude-code(?:\?|$)/.test(textIn(url));
  return isHttp || / hook claude-code --url /.test(textIn(command));
}

/** The members of a value of a settings file, whatever its form. */
function membersOf(value: unknown): Settings {
  return typeof value === 'object' && value !== null ? (value as Settings) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
