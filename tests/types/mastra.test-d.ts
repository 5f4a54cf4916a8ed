/**
 * Types of tools in the form of Mastra behind the gate. `tsc --noEmit` checks this file: a line
 * under `@ts-expect-error` that compiles is an error.
 */
import type { Gate } from '@assize/gate';
import { type AssizeSuspension, answerTo, gatedTools } from '@assize/mastra';

declare const gate: Gate;
declare const pay: {
  readonly id: 'pay';
  execute(input: { readonly to: string }, context: { readonly runId?: string }): Promise<{ readonly paid: string }>;
};
declare const suspension: AssizeSuspension;

const tools = gatedTools(gate, { pay });
export const same: typeof pay = tools.pay;
const [listed] = gatedTools(gate, [pay], { idempotent: ['pay'] });
export const paid: Promise<{ readonly paid: string }> = listed.execute({ to: 'bob' }, {});

// @ts-expect-error the argument is a text
tools.pay.execute({ to: 5 }, {});

// @ts-expect-error a tool has an id
gatedTools(gate, { look: { execute: async () => 1 } });

// @ts-expect-error there is no such option
gatedTools(gate, { pay }, { thread: () => 't1' });

// @ts-expect-error there is no such decision
answerTo(suspension, { decision: 'maybe' });
