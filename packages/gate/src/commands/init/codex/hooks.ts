/** The hooks of Assize in the configuration of Codex, as text of TOML. */

import { commandLine, refusing, wordsOf } from '../agents/hook-command.ts';

/** How the hooks reach the server. */
export interface CodexTerms {
  /** The program and its first arguments, which run `assize`. */
  readonly program: readonly string[];
  readonly url: string;
  readonly trajectory: string;
  readonly tokenFile: string;
  /** Seconds that a question waits for a person. */
  readonly wait: number;
}

/** Events that ask for a permission. */
export const QUESTIONS: readonly string[] = ['PreToolUse', 'PermissionRequest'];

/** Events that only inform. */
export const REPORTS: readonly string[] = [
  ...[
    'PostToolUse',
    'SessionStart',
    'UserPromptSubmit',
    'SubagentStart',
    'SubagentStop',
    'SessionEnd',
  ],
];

/**
 * Seconds of a hook beyond the wait. The hook itself gives up 10 seconds after the wait: Codex lets
 * a call through when a hook reaches its own time-out.
 */
export const HOOK_SECONDS = 40;

/** Codex ends this hook after 3 seconds, whatever it says. */
const END_SECONDS = 3;

/** The text of the hooks, without the trust that Codex needs to run them. */
export function hooksText(terms: CodexTerms): string {
  return [...QUESTIONS, ...REPORTS].map((event) => hookText(event, terms)).join('\n');
}

function hookText(event: string, terms: CodexTerms): string {
  return `[[hooks.${event}]]

[[hooks.${event}.hooks]]
type = "command"
command = ${quoted(commandOf(event, terms))}
timeout = ${timeoutOf(event, terms)}
`;
}

/** The text that says that a person trusts the hooks. Keys and hashes are those of Codex. */
export function trustText(hashes: Readonly<Record<string, string>>): string {
  return Object.entries(hashes)
    .map(([key, hash]) => `[hooks.state.${quoted(key)}]\ntrusted_hash = ${quoted(hash)}\n`)
    .join('\n');
}

export function timeoutOf(event: string, { wait }: Pick<CodexTerms, 'wait'>): number {
  return event === 'SessionEnd' ? END_SECONDS : wait + HOOK_SECONDS;
}

/** The command of a hook. */
export function commandOf(
  event: string,
  { program, url, trajectory, tokenFile, wait }: CodexTerms,
): string {
  const words = ['hook', 'codex', '--url', url, '--token-file', tokenFile].concat(
    trajectory === 'calls' ? [] : ['--trajectory', trajectory],
    ['--wait', String(wait)],
  );
  const line = commandLine(program, words);
  return QUESTIONS.includes(event) ? refusing(line, 'codex') : line;
}

/** Whether a command is a hook of Assize. */
export function isOwnCommand(command: unknown): command is string {
  return typeof command === 'string' && command.includes(' hook codex --url ');
}

/** How the hook of a command reaches the server. Undefined: the command has another form. */
export function termsIn(command: string): CodexTerms | undefined {
  const words = wordsOf(command);
  const at = words.indexOf('hook');
  const after = (name: string): string | undefined => {
    const i = words.indexOf(name, at);
    return i === -1 ? undefined : words[i + 1];
  };
  const [url, tokenFile, wait, trajectory = 'calls'] = [
    '--url',
    '--token-file',
    '--wait',
    '--trajectory',
  ].map(after);
  if (at < 1 || url === undefined || tokenFile === undefined || wait === undefined)
    return undefined;
  return { program: words.slice(0, at), url, tokenFile, wait: Number(wait), trajectory };
}

/** A basic string of TOML, which has the escapes of JSON. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
