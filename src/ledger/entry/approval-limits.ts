/** The maximum number of approvals that one proposal can require. */
export const APPROVALS_MAX = 8;
