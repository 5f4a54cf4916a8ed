/** LangGraph with `assizeMiddleware` in the place of LangChain's own middleware for people. */
import { serveDriver } from '@assize/testing/conformance';
import { gatedLangGraph } from './support/langgraph-assize.ts';

await serveDriver(async (setup) => ({
  name: 'LangGraph with Assize',
  ...(await gatedLangGraph(setup, false)),
}));
