/** The trajectory of incidents at a server. */
export const INCIDENTS = 'incidents';
