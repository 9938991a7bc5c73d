CREATE FUNCTION total(first INTEGER, rate DECIMAL(8,2) DEFAULT 1.5) RETURNING DECIMAL(8,2) AS amount, VARCHAR(20) AS name;
  DEFINE amount DECIMAL(8,2);
  DEFINE name LIKE customers.name;
  ON EXCEPTION IN (-206, -239) SET amount
    RETURN 0, "none";
  END EXCEPTION WITH RESUME;
  FOREACH SELECT total, status INTO amount, name FROM orders WHERE id > first
    IF amount > 10 AND name IS NOT NULL THEN
      LET amount = amount * rate;
    ELIF amount < 0 THEN
      CONTINUE FOREACH;
    ELSE
      RAISE EXCEPTION -746, 0, "small";
    END IF;
    RETURN amount, name WITH RESUME;
  END FOREACH;
  FOR first = 1 TO 10 STEP 2
    EXECUTE PROCEDURE other(first) INTO amount;
  END FOR;
  WHILE first < 3 LET first = first + 1; END WHILE;
END FUNCTION
