/** LangGraph with `assizeMiddleware`, and answers without the id of their interrupt. */
import { serveDriver } from '@assize/testing/conformance';
import { gatedLangGraph } from './support/langgraph-assize.ts';

await serveDriver(async (setup) => ({
  name: 'LangGraph with Assize, unnamed answers',
  ...(await gatedLangGraph(setup, true)),
}));
