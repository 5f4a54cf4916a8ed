export { AssizeError, type ErrorDetails, isAssizeError, type Json } from './errors.ts';
