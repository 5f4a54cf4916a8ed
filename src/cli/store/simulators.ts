import type { ToolSimulator } from '#agents';
import { readJson } from '../files/input-file.ts';
import { badFile, importModule, lookedAt } from '../files/module-file.ts';

/**
 * The simulators of a JSON file, or those that a module exports as `simulators`.
 *
 * @throws CliError
 */
export async function simulatorsIn(file: string): Promise<{ readonly [tool: string]: ToolSimulator }> {
  const found: unknown = file.endsWith('.json') ? readJson(file) : await exportedSimulators(file);
  if (typeof found === 'object' && found !== null && !Array.isArray(found))
    return found as { readonly [tool: string]: ToolSimulator };
  throw badFile(file, 'it has no simulators; give it an object with one for each tool');
}

async function exportedSimulators(file: string): Promise<unknown> {
  const module = await importModule(file, 'simulators', 'Name a JSON file, or a module that exports simulators');
  return lookedAt(file, 'simulators', () => (module as { readonly simulators?: unknown }).simulators);
}
