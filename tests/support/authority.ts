import type { Authority } from '#kernel';

/** Lets everybody do everything: for tests that are not about authority. */
export const ANYONE: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};
