import { resolve } from 'node:path';
import { requireOwnTool, type Tool } from 'assize/effects';
import { CliError } from './errors.ts';
import { importModule, lookedAt } from './module-file.ts';

/** The tools that the files export, by themselves or in lists. @throws CliError; CopyError `other_copy` */
export async function loadTools(files: readonly string[]): Promise<Tool[]> {
  const found = await Promise.all(
    files.map(async (file) => {
      const module = await importModule(file, 'tools', 'name one that exports what declareTool returns');
      const tools = lookedAt(file, 'tools', () => {
        const found = Object.values(module).flat().filter(isTool);
        for (const tool of found) requireOwnTool(tool);
        return found;
      });
      if (tools.length > 0) return tools;
      throw new CliError(
        'bad_input',
        `The file ${resolve(file)} exports no tool; export what declareTool returns, or a list of it.`,
      );
    }),
  );
  // The same one may be exported by itself and in a list.
  return [...new Set(found.flat())];
}

/** Does what needs the effects of a store, as soon as no other process has them at work. @throws CliError `at_work` */
export async function whenFree<T>(
  interruption: AbortSignal,
  waitSeconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const patience = AbortSignal.timeout(waitSeconds * 1_000);
  try {
    return await work(AbortSignal.any([interruption, patience]));
  } catch (error) {
    if (error !== patience.reason || !patience.aborted) throw error;
    throw new CliError(
      'at_work',
      'Another process works on the effects of this store, and sees to them: do it there, or end it first.',
      { cause: error },
    );
  }
}

/** By its members, so that one of another copy of the package is refused as that. */
function isTool(value: unknown): value is Tool {
  const { name, spec, parse, claims } = (value ?? {}) as Partial<Tool>;
  return (
    typeof name === 'string' && typeof spec === 'object' && typeof parse === 'function' && typeof claims === 'function'
  );
}
