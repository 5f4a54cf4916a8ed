/**
 * LangGraph with answers that name their interrupt, as its documentation says for several
 * interrupts: `new Command({ resume: { [id]: { decisions } } })`.
 */
import { serveDriver } from '@assize/testing/conformance';
import { bareLangGraph } from './support/langgraph-bare.ts';

await serveDriver(async (setup) => ({ name: 'LangGraph', ...bareLangGraph(setup, false) }));
