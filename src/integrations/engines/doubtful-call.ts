import type { HeldCall } from '#calls';

/**
 * A call that was begun, and whose outcome is not known: its attempt still runs, or was stopped. A
 * person who has looked settles it.
 */
export type DoubtfulCall = Pick<HeldCall, 'run' | 'id' | 'tool' | 'args' | 'call' | 'reason'>;
