import type { HeldCall } from '@assize/gate/internal/calls';

/**
 * A call that has started, and whose outcome is not known: its attempt still runs, or was stopped.
 * A person settles it after a look at the sink.
 */
export type DoubtfulCall = Pick<HeldCall, 'run' | 'id' | 'tool' | 'args' | 'call' | 'reason'>;
