import { join } from 'node:path';
import type { Step } from '../agents/day.ts';
import { type ToolUse, type Turn, use } from './messages-api.ts';

/** The steps as calls of the tools of Claude Code, one in each turn. */
export function turnsOf(steps: readonly Step[], project: string): readonly Turn[] {
  return steps.map((step, i) => [callOf(step, `toolu_${i}`, project)]);
}

function callOf(step: Step, id: string, project: string): ToolUse {
  const at = (path: string): string => join(project, path);
  if ('read' in step) return use(id, 'Read', { file_path: at(step.read) });
  if ('search' in step)
    return bash(id, `grep -rn --exclude=.env ${JSON.stringify(step.search)} ${step.in}`);
  if ('find' in step) return bash(id, `find ${step.find.split('/')[0]} -name '*.js'`);
  if ('create' in step) return use(id, 'Write', { file_path: at(step.create), content: step.text });
  if ('edit' in step) {
    const { from: old_string, to: new_string } = step;
    return use(id, 'Edit', { file_path: at(step.edit), old_string, new_string });
  }
  if ('note' in step) return use(id, 'ToolSearch', { query: 'select:TaskCreate', max_results: 1 });
  return bash(id, step.run);
}

const bash = (id: string, command: string): ToolUse =>
  use(id, 'Bash', { command, description: 'A step of the day' });
