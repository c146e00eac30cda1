/** An error whose message is a sentence for the reader, in the reader's language. The message of any other error is a library's, and no page shows it. */
export class ReaderError extends Error {}
