/** The counselor kind that judges what only a person can: reasons and complaints. */
export const SUPERVISOR = 'supervisor';
