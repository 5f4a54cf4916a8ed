/** Assize without a framework: a program that asks a server of Assize over HTTP. */
import { serveDriver } from '@assize/testing/conformance';
import { gateProgram } from './support/gate-program.ts';

await serveDriver((setup) => gateProgram(setup, { name: 'Assize gate over HTTP', isServed: true }));
