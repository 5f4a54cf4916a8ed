/** Assize without a framework: a program with the store in its own process. */
import { serveDriver } from '@assize/testing/conformance';
import { gateProgram } from './support/gate-program.ts';

await serveDriver((setup) => gateProgram(setup, { name: 'Assize gate', isServed: false }));
