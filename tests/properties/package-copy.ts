// The exports of a copy of the package that make values, and those that accept them. Imported again
// after `vi.resetModules()`, this module is another copy.

import * as agents from '#agents';
import * as effects from '#effects';
import * as kernel from '#kernel';
import * as replay from '#replay';
import * as runtime from '#runtime';
import * as ontology from '../../labs/ontology/index.ts';
import * as testing from '../../packages/testing/src/check-domain/check-domain.ts';

export { parseRuleTable, ruleTable } from '#authority';
export { createOracle } from '#oracle';
export { TemporaryStore } from '#stores';
export { runtimeOver, writFor } from '../support/ledger/runtime.ts';
export { agents, effects, kernel, ontology, replay, runtime, testing };
