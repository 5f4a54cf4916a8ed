/** The channel that any counselor may resolve. */
export const ANY_COUNSELOR = 'any';

/** Maximum number of approvers for one proposal. */
export const APPROVALS_MAX = 8;
