import type { Step } from '../agents/day.ts';
import { callFreeform, type OutputItem } from './responses-api.ts';
import { exec } from './ruled.ts';

/**
 * The steps as calls of the tools of Codex, one in each turn. Codex reads and searches by commands,
 * and writes by patches. It offers no tool for notes to `codex exec`, so it takes none.
 */
export function turnsOf(steps: readonly Step[]): readonly (readonly OutputItem[])[] {
  return steps
    .filter((step): step is Call => !('note' in step))
    .map((step, i) => [callOf(step, `call_${String(i).padStart(2, '0')}`)]);
}

type Call = Exclude<Step, { readonly note: unknown }>;

function callOf(step: Call, id: string): OutputItem {
  if ('read' in step) return exec(id, `cat ${step.read}`);
  if ('search' in step)
    return exec(id, `grep -rn --exclude=.env ${JSON.stringify(step.search)} ${step.in}`);
  if ('find' in step) return exec(id, `find ${step.find.split('/')[0]} -name '*.js'`);
  if ('create' in step)
    return patch(id, [`*** Add File: ${step.create}`, ...signed('+', step.text)]);
  if ('edit' in step) {
    const { edit, from, to } = step;
    return patch(id, [`*** Update File: ${edit}`, '@@', ...signed('-', from), ...signed('+', to)]);
  }
  return exec(id, step.run);
}

function patch(id: string, lines: readonly string[]): OutputItem {
  const text = ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
  return callFreeform(id, 'apply_patch', text);
}

function signed(sign: '+' | '-', text: string): readonly string[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${sign}${line}`);
}
