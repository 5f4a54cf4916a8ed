/** Programs with the types of Mastra itself: of the guide, of the example, and of wrong uses. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linkMastra } from '../../../tests/support/mastra/link-mastra.ts';
import { hasMastra } from '../../../tests/support/mastra/packages.ts';

const root = join(import.meta.dirname, '../../..');

const USES = `
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { createStep } from '@mastra/core/workflows';
import { type Gate } from '@assize/gate';
import { gatedTools } from '@assize/mastra';
import { z } from 'zod';

declare const gate: Gate;
const pay = createTool({
  id: 'pay',
  description: 'Pays.',
  inputSchema: z.object({ to: z.string() }),
  outputSchema: z.object({ paid: z.string() }),
  execute: async ({ to }) => ({ paid: to }),
});
const tools = gatedTools(gate, { pay });
export const same: typeof pay = tools.pay;
const [listed] = gatedTools(gate, [pay]);
export const also: typeof pay = listed;
export const agent = new Agent({ id: 'a', name: 'a', instructions: 'i', model: 'openai/x', tools });
export const step = createStep(tools.pay);

// @ts-expect-error the argument is a text
export const wrong = tools.pay.execute?.({ to: 5 }, {} as never);

// @ts-expect-error there is no such option
gatedTools(gate, { pay }, { thread: () => 't1' });

// @ts-expect-error a tool has an id
gatedTools(gate, { look: { execute: async () => 1 } });
`;

describe.skipIf(!hasMastra)('Mastra (absent without npm ci --prefix peers)', () => {
  test('the programs compile, and each wrong use is an error', () => {
    const here = mkdtempSync(join(tmpdir(), 'assize-mastra-types-'));
    onTestFinished(() => rmSync(here, { recursive: true }));
    linkMastra(here);
    const page = readFileSync(join(root, 'docs/guide/mastra.md'), 'utf8');
    const programs = [...page.matchAll(/^```(?:ts|typescript) (\S+)\n([\s\S]*?)^```$/gm)];
    expect(programs.length).toBeGreaterThan(4);
    for (const [, name = '', text = ''] of programs) writeFileSync(join(here, name), text);
    copyFileSync(join(root, 'examples/programs/mastra-agent.ts'), join(here, 'mastra-agent.ts'));
    writeFileSync(join(here, 'uses.ts'), USES);
    const compilerOptions = { typeRoots: [join(root, 'node_modules/@types')] };
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      include: ['*.ts'],
      exclude: [],
    };
    writeFileSync(join(here, 'tsconfig.json'), JSON.stringify(config));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', here], {
      encoding: 'utf8',
    });
    expect([stdout, status]).toEqual(['', 0]);
  });
});
