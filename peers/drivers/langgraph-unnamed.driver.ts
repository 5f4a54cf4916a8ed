/**
 * LangGraph with answers as the page of its middleware for people shows them: `new Command({ resume:
 * { decisions } })`.
 */
import { serveDriver } from '@assize/testing/conformance';
import { bareLangGraph } from './support/langgraph-bare.ts';

await serveDriver(async (setup) => ({
  name: 'LangGraph, unnamed answers',
  ...bareLangGraph(setup, true),
}));
