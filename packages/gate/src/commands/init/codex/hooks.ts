/** The hooks of Assize in the configuration of Codex, as text of TOML. */

import { type HookTerms, hookLine, refusing } from '../agents/hook-command.ts';

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
export function hooksText(terms: HookTerms): string {
  return [...QUESTIONS, ...REPORTS].map((event) => hookText(event, terms)).join('\n');
}

function hookText(event: string, terms: HookTerms): string {
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

export function timeoutOf(event: string, { wait }: Pick<HookTerms, 'wait'>): number {
  return event === 'SessionEnd' ? END_SECONDS : wait + HOOK_SECONDS;
}

/** The command of a hook. */
export function commandOf(event: string, terms: HookTerms): string {
  const line = hookLine('codex', terms);
  return QUESTIONS.includes(event) ? refusing(line) : line;
}

/** Whether a command is a hook of Assize. */
export function isOwnCommand(command: unknown): command is string {
  return typeof command === 'string' && command.includes(' hook codex --url ');
}

/** A basic string of TOML, or a list of them, with the escapes of JSON. */
export function quoted(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}
