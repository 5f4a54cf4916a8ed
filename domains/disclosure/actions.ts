/**
 * What may be proposed. An action records what it is told; whether the record may stand is for the invariants. It refuses
 * by itself only what makes no sense as a record: what is not there, what is there already, an agent that nobody assigned.
 */
import { commitments } from './actions/commitments.ts';
import { desk } from './actions/desk.ts';
import { disclosing } from './actions/disclosure.ts';
import { patchTracking } from './actions/patch-tracking.ts';
import { reporter } from './actions/reporter.ts';

export const actions = { ...desk, ...reporter, ...patchTracking, ...commitments, ...disclosing };
