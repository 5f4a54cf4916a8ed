import { parentPort, workerData } from 'node:worker_threads';
import { serveWriting } from './writing-server.ts';

await serveWriting(parentPort!, workerData);
