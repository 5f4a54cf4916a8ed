/**
 * Types of the tools of LangChain behind the gate. `tsc --noEmit` checks this file: a line under
 * `@ts-expect-error` that compiles is an error.
 */

import type { Gate } from '@assize/gate';
import { assizeMiddleware, gatedTools } from '@assize/langchain';
import { tool } from '@langchain/core/tools';
import { createAgent } from 'langchain';
import { z } from 'zod';

declare const gate: Gate;

const pay = tool(({ to }) => `paid ${to}`, { name: 'pay', description: 'p', schema: z.object({ to: z.string() }) });

const [gated] = gatedTools(gate, [pay]);
export const same: typeof pay = gated;
export const asked: Promise<unknown> = gated.invoke({ to: 'bob' });

// @ts-expect-error the argument is a text
export const wrong: Promise<unknown> = gated.invoke({ to: 5 });

export const agent: object = createAgent({ model: 'm', tools: [pay], middleware: [assizeMiddleware(gate)] });

// @ts-expect-error there is no such form of a pause
assizeMiddleware(gate, { interrupts: 'slack' });
