/**
 * Types of the tools of the OpenAI Agents SDK behind the gate. `tsc --noEmit` checks this file: a
 * line under `@ts-expect-error` that compiles is an error.
 */

import type { Gate } from '@assize/gate';
import { gatedTools, runStateVault } from '@assize/openai-agents';
import { Agent, tool } from '@openai/agents';
import { z } from 'zod';

declare const gate: Gate;

const pay = tool({
  name: 'pay',
  description: 'p',
  parameters: z.object({ to: z.string() }),
  execute: ({ to }) => ({ paid: to }),
});

const [gated] = gatedTools(gate, [pay]);
export const same: typeof pay = gated;
export const paid: Promise<string | { paid: string }> = gated.invoke({} as never, '{}');

// @ts-expect-error the output is that of the tool
export const wrong: Promise<number> = gated.invoke({} as never, '{}');

export const agent = new Agent({ name: 'a', tools: gatedTools(gate, [pay]) });
export const state: Promise<object> = runStateVault({ folder: 'runs' }).take(agent, 't');

// @ts-expect-error a hosted tool is made by its provider
gatedTools(gate, [{ type: 'hosted_tool', name: 'web_search' }]);

// @ts-expect-error an approver returns a name
gatedTools(gate, [pay], { approver: () => true });
