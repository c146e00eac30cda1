CREATE TABLE "bff"."postgres_timeline" (
	"id" integer PRIMARY KEY DEFAULT 1 NOT NULL,
	"timeline" text NOT NULL,
	CONSTRAINT "postgres_timeline_one_row" CHECK ("bff"."postgres_timeline"."id" = 1)
);
