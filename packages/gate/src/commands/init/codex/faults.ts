import { ANSWER_SECONDS } from '../../hook/answer-event.ts';
import { type HookTerms, hookTermsIn } from '../agents/hook-command.ts';
import { isTable, type Table } from './config-text.ts';
import { commandOf, isOwnCommand, QUESTIONS, REPORTS, timeoutOf } from './hooks.ts';
import type { ListedHook } from './listed-hooks.ts';

/** A hook of Assize in a configuration. */
export interface ConfiguredHook {
  readonly event: string;
  readonly command: string;
  readonly timeout: unknown;
  /** Whether it is called for every tool. */
  readonly isForAll: boolean;
}

/** The hooks of Assize in a configuration. */
export function configuredHooks({ hooks }: Table): readonly ConfiguredHook[] {
  return Object.entries(isTable(hooks) ? hooks : {}).flatMap(([event, groups]) =>
    tablesIn(groups).flatMap(({ matcher, hooks: handlers }) =>
      tablesIn(handlers).flatMap(({ command, timeout }) => {
        if (!isOwnCommand(command)) return [];
        return [
          {
            event,
            command,
            timeout,
            isForAll: matcher === undefined || matcher === '' || matcher === '*',
          },
        ];
      }),
    ),
  );
}

/** Faults of the hooks in a configuration, by its text. */
export function configuredFaults(path: string, found: readonly ConfiguredHook[]): string[] {
  const lacking = [...QUESTIONS, ...REPORTS].filter(
    (event) => !found.some((hook) => hook.event === event),
  );
  const missing = lacking.length === 0 ? [] : [`${path} lacks the hooks of ${lacking.join(', ')}`];
  return [...missing, ...found.flatMap((hook) => hookFaults(hook))];
}

function hookFaults({ event, command, timeout, isForAll }: ConfiguredHook): string[] {
  const terms = hookTermsIn(command);
  if (terms === undefined || command !== commandOf(event, terms))
    return [`the command of ${event} is not the one of Assize; run assize init codex again`];
  const matched = isForAll
    ? []
    : [`the hook of ${event} has a matcher, so it does not see every call`];
  return [...matched, ...timeFaults(event, timeout, terms)];
}

/** A hook that reaches its own time-out lets the call through. */
function timeFaults(event: string, timeout: unknown, terms: HookTerms): string[] {
  const least = event === 'SessionEnd' ? 0 : terms.wait + 2 * ANSWER_SECONDS;
  return typeof timeout === 'number' && timeout >= least
    ? []
    : [
        `the hook of ${event} needs a timeout of ${timeoutOf(event, terms)} seconds; Codex lets a call through after it`,
      ];
}

/** Faults of the hooks, as Codex itself knows them: it runs only hooks that a person trusts. */
export function listedFaults(listed: readonly ListedHook[]): string[] {
  return [...QUESTIONS, ...REPORTS].flatMap((event) => {
    const hook = listed.find(({ eventName }) => eventName.toLowerCase() === event.toLowerCase());
    if (hook === undefined)
      return [`Codex does not know the hook of ${event}; it may not read this file here`];
    if (!hook.enabled) return [`Codex has the hook of ${event} switched off`];
    if (hook.trustStatus === 'trusted') return [];
    return [
      `Codex does not run the hook of ${event}, because it changed; run assize init codex again`,
    ];
  });
}

function tablesIn(value: unknown): readonly Table[] {
  return Array.isArray(value) ? value.filter(isTable) : [];
}
