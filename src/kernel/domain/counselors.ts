/** The channel of what any counselor may resolve. */
export const ANY_COUNSELOR = 'any';

/** Most people whose approval one proposal can take. */
export const APPROVALS_MAX = 8;
