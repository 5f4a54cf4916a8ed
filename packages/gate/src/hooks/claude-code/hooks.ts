import type { HookProgram } from '../handle-event.ts';
import type { HookOptions } from './hook-options.ts';
import { QUESTIONS } from './questions.ts';
import { recorded } from './reports.ts';

/** The events of Claude Code. */
export const CLAUDE_CODE_HOOKS: HookProgram<HookOptions> = { questions: QUESTIONS, recorded };
