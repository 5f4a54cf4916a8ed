import type { HookProgram } from '../handle-event.ts';
import type { HookOptions } from './hook-options.ts';
import { QUESTIONS } from './questions.ts';
import { recorded } from './reports.ts';

/** The events of Codex. */
export const CODEX_HOOKS: HookProgram<HookOptions> = { questions: QUESTIONS, recorded };
