-- Written by hand, before its index. Words are divided at ASCII punctuation and spaces only, so that no locale decides; a word is cut at 100 characters.
CREATE FUNCTION "service"."payment_words"("account" text, "metadata" text, "sender" text, "recipient" text, "signature" text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 10000 AS $$
BEGIN
  RETURN array_to_tsvector(ARRAY(
    SELECT left("word", 100) FROM unnest(string_to_array(translate(
      lower(replace(coalesce("metadata", ''), '\n', ' ') || ' ' || "sender" || ' ' || "recipient" || ' ' || coalesce("signature", '')),
      E' \t\n\r!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', repeat(' ', 36)), ' ')) AS "word" WHERE "word" <> ''
  ) || ('@' || lower("account")));
END $$;
--> statement-breakpoint
CREATE INDEX "payment_words" ON "service"."payment" USING gin (service.payment_words(account_id, metadata, sender, recipient, signature));--> statement-breakpoint
CREATE INDEX "payment_amount" ON "service"."payment" USING btree ("account_id",(amount * power(10::numeric, 36 - decimals)));
