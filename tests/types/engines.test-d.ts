/**
 * Types of calls in steps of durable engines. `tsc --noEmit` checks this file: a line under
 * `@ts-expect-error` that compiles is an error.
 */

import { dbosOnce, once, restateOnce } from '@assize/engines';
import type { Gate } from '@assize/gate';
import { DBOS } from '@dbos-inc/dbos-sdk';
import * as restate from '@restatedev/restate-sdk';

declare const gate: Gate;
declare const ctx: restate.Context;

const call = { key: 'pay', tool: 'pay', args: { to: 'bob', cents: 5 } } as const;

export const paid: Promise<string> = restateOnce(gate, restate)(ctx, call, ({ args }) => `paid ${args.to}`);
export const receipt: Promise<{ cents: number }> = dbosOnce(gate, DBOS)(call, ({ args: { cents } }) => ({ cents }));
export const plain: Promise<null> = once(gate, { ...call, run: 'order-7' }, () => null, { idempotent: true });

// @ts-expect-error a call outside of an engine names its run
once(gate, call, () => null);

// @ts-expect-error the result is JSON
dbosOnce(gate, DBOS)(call, () => new Date(0));

// @ts-expect-error the call has no such argument
dbosOnce(gate, DBOS)(call, ({ args }) => args.euros);

// @ts-expect-error the call has no key
restateOnce(gate, restate)(ctx, { tool: 'pay', args: {} }, () => null);
